// The library of scenarios: playing one on this emulator, and watching its steps.

import { call, follow, get, named } from './api.js';
import { $, addressed, asked, attempt, badge, begin, command, connection, el, fill, go, inCluster, key, loading, redraw, say, soon, sure, table, to } from './page.js';
import { scenario as texts, t } from './words.js';

let library = [];
let found = { text: '', names: new Set() }; // what the last search found, beside names and texts that have it
let results = []; // of earlier plays, the newest last
let play; // what is being played, or was last: {scenario, steps, result}

// How a play ended.
const ends = { passed: t`passed`, failed: t`failed`, skipped: t`skipped`, broken: t`could not run` };
const ended = ({ status }) => badge(ends[status] ?? status, { passed: 'good', skipped: 'odd' }[status] ?? 'bad');

const lastOf = (name) => results.findLast((r) => r.scenario === name);

function drawList() {
  const wanted = (asked().get('q') ?? '').toLowerCase();
  const chosen = library.filter((s) => `${s.name} ${s.about}`.toLowerCase().includes(wanted) || wanted === found.text && found.names.has(s.name));
  $('#count').textContent = chosen.length === library.length ? String(library.length) : t`${chosen.length} of ${library.length}`;
  const playing = play && !play.result && play.scenario;
  redraw($('#library tbody'), [chosen.map(({ name }) => [name, lastOf(name)?.status]), playing, location.search], () => chosen.map((s) => {
    const current = s.name === asked().get('name');
    return el('tr', { 'data-name': s.name, class: current && 'current' },
      el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ name: s.name }), 'aria-current': current && 'true', 'data-focus': s.name }, s.name)),
      el('td', {}, s.about), el('td', {}, playing === s.name ? badge(t`running`, 'good') : lastOf(s.name) && ended(lastOf(s.name))));
  }));
}

// search asks for the scenarios that a text finds, which need not have it as it stands.
const search = soon(() => attempt(async () => {
  const text = (asked().get('q') ?? '').toLowerCase();
  if (!text || text === found.text) return;
  const { scenarios: list } = await get('/v1/scenarios/library', { text });
  found = { text, names: new Set(list.map((s) => s.name)) };
  drawList();
}));

const playable = (s) => s.parts.includes('client');

function drawDetail(text) {
  const detail = $('#detail');
  const s = library.find((one) => one.name === asked().get('name'));
  if (!s) {
    fill(detail, el('div', { class: 'empty' }, el('h2', {}, t`Choose a scenario`), el('p', {}, t`Or run the whole library, each scenario on its own emulator:`), command('clbemu scenario run', true),
      el('p', {}, t`Or test your program on its own emulator:`), command('clbemu scenario watch reply-lost-after-create -- go test ./...', true)));
    return;
  }
  fill(detail, el('div', { class: 'bar' }, el('h2', {}, s.name), el('span', { class: 'quiet' }, t`parts: ${s.parts.join(', ')}`), el('a', { class: 'close', href: to({ name: '' }) }, t`Close`)),
    el('p', {}, s.about),
    playable(s) ? el('p', { class: 'line' }, el('button', { type: 'button', id: 'play', class: 'primary', onclick: () => start(s.name) }, t`Run`), el('button', { type: 'button', id: 'stop', onclick: stop }, t`Stop`),
      el('label', {}, el('input', { type: 'checkbox', id: 'here', onchange: drawSteps }), t` on this emulator`),
      el('label', { id: 'freshly' }, el('input', { type: 'checkbox', id: 'fresh' }), t` delete everything first`))
      : el('p', { class: 'quiet' }, t`It has no client part.`),
    playable(s) && el('p', { class: 'quiet', id: 'where' }),
    el('div', { id: 'steps', 'aria-live': 'polite' }),
    el('h3', {}, t`On its own emulator`), command(`clbemu scenario run ${s.name}`, true),
    s.parts.includes('program') && el('h3', {}, t`With your program`), s.parts.includes('program') && command(`clbemu scenario watch ${s.name} -- go test ./...`, true),
    s.parts.includes('kubernetes') && el('h3', {}, t`With a controller in a cluster`), s.parts.includes('kubernetes') && inCluster(s.name),
    el('h3', {}, t`Its text`), el('ol', { class: 'text' }, text.trimEnd().split('\n').map((line) => el('li', {}, line.replace(/^(# yaml-language-server:).*/, '$1 …')))));
  drawSteps();
}

function drawSteps() {
  const name = asked().get('name');
  const busy = Boolean(play && !play.result);
  if ($('#play')) {
    $('#play').disabled = busy;
    $('#stop').disabled = !busy;
    const here = $('#here').checked;
    $('#freshly').hidden = !here;
    fill($('#where'), here ? t`It runs on this emulator and changes it: resources that it creates stay.` : t`A scenario runs on an emulator of its own, in memory: nothing here changes.`);
  }
  const steps = $('#steps');
  if (!steps) return;
  const lines = [...document.querySelectorAll('.text li')];
  for (const line of lines) delete line.dataset.passed;
  if (play?.scenario !== name) {
    redraw(steps, [busy, play?.scenario], () => (busy ? el('p', { class: 'quiet' }, el('a', { href: to({ name: play.scenario }) }, play.scenario), t` is being played.`) : ''));
    return;
  }
  for (const s of play.steps) if (lines[s.line - 1]) lines[s.line - 1].dataset.passed = s.passed;
  redraw(steps, play, () => [el('h3', {}, t`Steps`),
    table('', ['', t`Line`, t`Step`], play.steps.map((s) => [badge(s.passed ? t`ok` : t`failed`, s.passed ? 'good' : 'bad'), el('td', { class: 'number' }, String(s.line)), s.title])),
    play.result ? outcome(play.result, play.apart) : el('p', {}, badge(t`running`, 'good'), t` ${play.steps.length} steps done`)]);
}

function outcome(r, apart) {
  const f = r.failure;
  const part = (title, content) => content && el('div', {}, el('dt', {}, title), el('dd', {}, content));
  return el('div', { class: 'outcome' }, el('p', {}, ended(r), t` in ${r.seconds.toFixed(2)} s`),
    f && el('dl', {}, part(t`Where`, `${f.file}:${f.line}: ${f.step}`), part(t`Reason`, f.reason),
      f.unmet?.map((u) => [part(t`Expected at line ${u.line}`, u.expected), part(t`Seen`, u.seen)]).flat(), part(t`Hint`, f.hint), part(t`To do`, texts(r.scenario).advice ?? f.advice),
      f.faults?.map((h) => part(t`Fault`, t`${h.name} changed ${h.hits} of ${h.seen} matching calls`))),
    r.notes?.map((note) => el('p', {}, note)), !apart && el('p', {}, el('a', { href: 'journal' }, t`Its calls`)));
}

async function start(name) {
  const here = $('#here').checked;
  const fresh = here && $('#fresh').checked;
  if (fresh && !(await sure(t`Delete everything first?`, t`This deletes all load balancers and everything else that clients created, resets the conditions and the emulated time, and plants the world again. Fault rules and the journal stay.`, t`Delete and run`))) return;
  await attempt(async () => {
    if (fresh) await call('POST', '/v1/state/reset');
    await call('POST', '/v1/scenarios/start', { query: { name, apart: !here } });
  });
}

const stop = () => attempt(() => call('POST', '/v1/scenarios/stop'));

const later = soon(async () => {
  drawList();
  drawSteps();
}, 30);

function heard({ data: { event, scenario, apart, step, result } }) {
  if (event === 'begun') play = { scenario, apart, steps: [] };
  else if (event === 'step') play.steps.push(step);
  else {
    play.result = result;
    if (!results.some((r) => JSON.stringify(r) === JSON.stringify(result))) results.push(result);
  }
  later();
}

let shown = '';
async function show(query) {
  if ($('#search') !== document.activeElement) $('#search').value = query.get('q') ?? '';
  drawList();
  search();
  const name = query.get('name');
  if (name === shown) return;
  const text = name && library.some((s) => s.name === name) ? await get(named('/v1/scenarios/library/', name)) : '';
  if (asked().get('name') !== name) return;
  shown = name;
  if (name && !text) say(t`There is no scenario ${name}.`);
  drawDetail(text);
}

begin();
$('form[role=search]').addEventListener('submit', (event) => event.preventDefault());
$('#search').addEventListener('input', (event) => go({ q: event.target.value }, true));
key('p', t`play what is shown`, () => $('#play:enabled')?.click());
key('s', t`stop what is played`, () => $('#stop:enabled')?.click());
attempt(async () => {
  const [known, status] = await Promise.all([get('/v1/scenarios/library'), get('/v1/scenarios')]);
  library = known.scenarios.map((s) => ({ ...s, about: texts(s.name).about ?? s.about }));
  results = status.results;
  addressed((query) => { attempt(() => show(query)); });
  loading(false);
  follow('/v1/scenarios/stream', {}, { event: heard, state: connection, refused: (problem) => say(problem.message) });
});
