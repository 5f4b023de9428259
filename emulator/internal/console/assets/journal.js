// What was called and changed, as it happens, and one call with all there is to know.

import { follow, get, named } from './api.js';
import { $, addressed, asked, attempt, badge, begin, command, connection, el, fill, held, key, loading, quoted, say, soon, table, terms, to } from './page.js';
import { t } from './words.js';

const most = 500; // rows of a page
let room = most; // rows of all pages that are shown
let entries = []; // the newest first
let paused = false;
let stop = () => {};

const clockTime = (time) => time.slice(11, 23).replace('Z', '');
const answer = (e) => e.kind !== 'call' ? badge(e.status ? String(e.status) : e.kind, 'odd') : badge(e.code ? `${e.status} ${e.code}` : 'OK');
const struck = (e) => (e.faults ?? []).map((name) => el('a', { class: 'badge', 'data-mood': 'odd', href: `faults?rule=${encodeURIComponent(name)}`, title: t`changed by this fault` }, `⚡ ${name}`));
const caller = (e) => [e.accessKeyId, e.userAgent?.split(' ')[0]].filter(Boolean).join(' ');
const about = (e) => e.made || e.resource || (e.kind === 'call' ? '' : Object.entries(e.parameters ?? {}).map(([name, value]) => (value.includes('\n') ? name : `${name}=${value}`)).join(' ').slice(0, 120));

const row = (e) => el('tr', { 'data-sequence': e.sequence },
  el('td', { class: 'time' }, clockTime(e.time)),
  el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ entry: e.sequence }) }, e.action), ' ', el('span', { class: 'quiet' }, e.product ?? '')),
  el('td', {}, about(e)), el('td', { class: 'lesser' }, caller(e)),
  el('td', {}, answer(e), struck(e), e.unread && el('span', { class: 'badge', 'data-mood': 'odd', title: t`clbemu ignores ${e.unread.join(', ')}` }, t`unread`)),
  el('td', { class: 'number lesser' }, e.milliseconds?.toFixed(1) ?? ''));

const draw = soon(async () => {
  const body = $('#entries tbody');
  if (paused || held(body, draw)) return count();
  const newest = Number(body.firstChild?.dataset.sequence ?? 0);
  const fresh = entries.filter((e) => e.sequence > newest);
  body.prepend(...fresh.map(row));
  while (body.children.length > room) body.lastChild.remove();
  mark();
  return count();
}, 50);

function count() {
  const waiting = paused ? entries.filter((e) => e.sequence > Number($('#entries tbody').firstChild?.dataset.sequence ?? 0)).length : 0;
  const all = older ? t`the last ${entries.length}` : String(entries.length);
  $('#count').textContent = waiting ? t`${all}, ${waiting} wait` : all;
  $('#entries').hidden = entries.length === 0;
  $('#older').hidden = !older;
  $('#none').hidden = entries.length > 0 || $('#problem').textContent !== '';
}

// What is before the oldest entry that is shown.
let older = false;
async function showOlder() {
  const wanted = filtered;
  const page = await attempt(() => get('/v1/journal', { ...filter(), before: entries.at(-1).sequence, limit: most }));
  if (!page || filtered !== wanted) return;
  const before = page.entries.reverse();
  entries.push(...before);
  room = Math.max(most, entries.length);
  older = before.length === most;
  $('#entries tbody').append(...before.map(row));
  mark();
  count();
}

function mark() {
  const chosen = asked().get('entry');
  for (const tr of $('#entries tbody').children) tr.classList.toggle('current', tr.dataset.sequence === chosen);
}

function empty(filtered) {
  fill($('#none'), el('h2', {}, filtered ? t`Nothing matches the filter` : t`There are no calls yet`),
    el('p', {}, filtered ? t`New entries appear here as they come.` : t`The journal lists every call to the cloud and every change of the world. Make a call:`),
    !filtered && command('clbemu call DescribeLoadBalancers'), !filtered && el('p', {}, t`Or point a client here:`), !filtered && command('clbemu env'));
}

// filter is what the address asks of the journal.
const filter = () => Object.fromEntries([...asked()].filter(([name]) => name !== 'entry'));
let filtered;
function watch() {
  const wanted = filter();
  const text = JSON.stringify(wanted);
  if (text === filtered) return;
  filtered = text;
  stop();
  $('#problem').textContent = '';
  for (const field of $('#filter').elements) {
    if (field.type === 'checkbox') field.checked = Boolean(wanted[field.name]);
    else if (field.name) field.value = wanted[field.name] ?? '';
  }
  $('#range').open ||= Boolean(wanted.from || wanted.to);
  const restart = () => {
    [entries, room, older] = [[], most, false];
    $('#entries tbody').replaceChildren();
    draw();
  };
  empty(Object.keys(wanted).length > 0);
  stop = follow('/v1/journal/stream', { ...wanted, limit: most }, {
    begin: () => { restart(); loading(false); }, state: connection,
    event: ({ event, data }) => {
      if (event === 'missed') return say(t`${data.missed} entries came too fast to be shown.`);
      entries.unshift(data);
      older ||= entries.length >= room;
      entries.length = Math.min(entries.length, room);
      return draw();
    },
    refused: (problem) => { $('#problem').textContent = problem.message; restart(); },
  });
}

// One entry.
async function show(sequence) {
  const detail = $('#detail');
  detail.hidden = !sequence;
  $('.panes').classList.toggle('both', Boolean(sequence));
  mark();
  if (!sequence) return;
  const e = (await get('/v1/journal', { sequence })).entries[0]; // with its answer, which the list does not have
  const close = el('a', { class: 'close', href: to({ entry: '' }) }, t`Close`);
  if (!e) return void fill(detail, close, el('p', {}, t`Entry ${sequence} is no longer in the journal, which keeps only the newest.`));
  const explained = e.code ? await get(named('/v1/explanations/', e.code)).catch(() => undefined) : undefined;
  const refusing = e.code && e.faults ? (await get('/v1/faults')).faults.filter((f) => e.faults.includes(f.name) && /\b(?:error|throttle):/.test(f.rule)).map((f) => f.name) : [];
  if (asked().get('entry') !== sequence) return;
  fill(detail, el('div', { class: 'bar' }, el('h2', {}, e.action), answer(e), struck(e), close),
    e.faults && e.kind === 'call' && el('p', {}, received(e)),
    refusing.length > 0 && byRule(refusing),
    explained && !refusing.length && why(e, explained),
    terms([[t`Time`, e.time], [t`Product`, e.product], [t`About`, known(e.resource, e.also)], [t`Made`, known(e.made, e.alsoMade)], [t`Region`, e.region], [t`Access key`, e.accessKeyId],
      [t`Caller`, e.userAgent], [t`Request id`, e.requestId], [t`Evidence`, e.evidence], [t`Took`, e.milliseconds && t`${e.milliseconds} ms`], [t`Sequence`, String(e.sequence)]]),
    el('h3', {}, { call: t`Parameters`, traffic: t`Packets` }[e.kind] ?? t`Changed`), parameters(e),
    e.kind === 'call' && answered(e),
    e.kind === 'call' && el('h3', {}, t`Again`),
    e.kind === 'call' && command(repeated(e)),
    e.kind === 'call' && el('p', {}, el('a', { href: `faults?action=${encodeURIComponent(e.action)}` }, t`Make such calls fail`)));
}

const repeated = (e) => ['clbemu call', e.action, ...(e.product === 'Slb' ? [] : ['--product', e.product]),
  ...Object.entries(e.parameters ?? {}).map((parameter) => quoted(parameter.join('=')))].join(' ');

const known = (first, others = []) => [first, ...others].filter(Boolean).flatMap((id, i) => [i ? ' ' : '', /^n?lb-/.test(id) ? el('a', { href: `./?lb=${encodeURIComponent(id)}` }, id) : id]);

function parameters(e) {
  const sent = Object.entries(e.parameters ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  if (!sent.length) return el('p', { class: 'quiet' }, t`none`);
  const unread = (name) => e.unread?.includes(name) && el('span', { class: 'badge', 'data-mood': 'odd' }, t`no handler reads it`);
  return el('div', {}, table('', [t`Name`, t`Value`], sent.map(([name, value]) => [[name, ' ', unread(name)], el('td', {}, el('pre', {}, value))])),
    e.omitted && el('p', { class: 'quiet' }, t`${e.omitted} more were dropped.`));
}

// answered shows what the call was answered with, as far as that is kept.
function answered(e) {
  let text = e.answer;
  try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* XML, or the beginning of a long one */ }
  return el('div', {}, el('h3', {}, t`Answer`), text ? el('pre', { id: 'answer' }, text) : el('p', { class: 'quiet' }, t`not kept any more`));
}

// received says what a fault rule let the client have.
const received = (e) => ({ nothing: e.code === 'ReplyLost' ? t`The call was not executed, and the client got no answer: a fault rule closed the connection.` : t`The client got no answer to the call, whose outcome is shown: a fault rule closed the connection.`,
  part: t`The client got a part of the answer: a fault rule cut it off.`, other: t`The client got another text in place of the answer: a fault rule changed it.` })[e.received]
  ?? (e.code ? t`A fault rule struck the call, and the client got this refusal.` : t`A fault rule struck the call, and the client got the answer.`);

// byRule says which fault rules refused a call, and how to end that.
const byRule = (names) => el('div', {}, el('h3', {}, t`Why`), el('p', {}, t`The fault rule ${names.join(', ')} refused it, and nothing else is the cause. This ends it:`), command(`clbemu fault delete ${names.join(' ')}`));

// why shows the evidence, the causes and the remedies of a refusal.
function why(e, explained) {
  const answers = explained.answers.filter((a) => a.product === e.product && (!a.actions || a.actions.includes(e.action)));
  const cited = new Set(answers.map((a) => a.evidence));
  const own = explained.causes.filter((c) => c.action === e.action && c.product === e.product);
  return el('div', {}, el('h3', {}, t`Why`),
    answers.map((a) => el('p', {}, `${a.status} ${a.code}: ${a.message}`)),
    own.map((c) => el('dl', {}, [[t`Cause`, c.about], [t`Begins by`, c.begin], [t`Ends by`, c.end]].map(([name, text]) => el('div', {}, el('dt', {}, name), el('dd', {}, withCode(text)))))),
    explained.evidence.filter((known) => cited.has(known.id)).map((known) => el('p', { class: 'quiet' }, el('strong', {}, known.id), ` ${known.claim} (${known.source}; ${known.confidence}, ${known.date})`)),
    explained.statements.filter((s) => s.action === `${e.product}/${e.action}` && s.verdict !== 'unchecked').map((s) => el('p', { class: 'quiet' }, `${s.says} (${s.source})`)),
    command(`clbemu explain ${e.code}`, true));
}

// withCode makes what is between backticks code.
const withCode = (text) => text.split('`').map((part, i) => (i % 2 ? el('code', {}, part) : part));

begin();
$('#filter').addEventListener('submit', (event) => {
  event.preventDefault();
  const set = [...new FormData(event.target)].filter(([, value]) => value);
  const others = Object.entries(filter()).filter(([name]) => !event.target.elements[name]);
  history.pushState(null, '', `/journal?${new URLSearchParams([...set, ...others])}`);
  watch();
  show('');
});
const pause = () => {
  paused = !paused;
  $('#pause').setAttribute('aria-pressed', String(paused));
  $('#pause').textContent = paused ? t`Go on` : t`Pause`;
  draw();
};
$('#pause').addEventListener('click', pause);
$('#older').addEventListener('click', showOlder);
key('p', t`pause, and go on`, pause);
get('/v1/actions').then((actions) => {
  fill($('#actions'), [...new Set(actions.filter((a) => a.emulated).map((a) => a.action))].map((name) => el('option', { value: name })));
}, () => {});
$('#filter').elements.kind.append(...['call', 'world', 'clock', 'fault', 'state', 'mark', 'traffic'].map((kind) => el('option', {}, kind)));
fill($('#codes'), ['OK', 'Throttling', 'InvalidAction.NotEmulated', 'ServiceUnavailable'].map((value) => el('option', { value })));
addressed((query) => {
  watch();
  show(query.get('entry') ?? '').catch((problem) => say(problem.message));
});
