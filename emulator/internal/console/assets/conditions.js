// What is so in the world and can be changed while clients work: the account, the clock,
// what is in stock, free addresses and quotas.

import { call, get } from './api.js';
import { $, addressed, asked, attempt, badge, begin, breakable, command, el, fill, go, key, latest, onNews, redraw, table } from './page.js';
import { t, translated } from './words.js';

const whose = () => ({ account: asked().get('account') ?? '', region: asked().get('region') ?? '' });

// set sets a condition, in the region of its row if that has one.
async function set(name, value, region = whose().region) {
  await attempt(() => call('PATCH', '/v1/world', { query: { ...whose(), region }, body: { settings: [{ name, value: String(value) }] } }), t`${name} is ${value}`);
  await refresh();
}

// setter is a field for the value of a condition, with its button.
const setter = (name, value, { label, unset, region } = {}) => el('form', { class: 'line', onsubmit: (event) => {
  event.preventDefault();
  const field = event.target.elements.value;
  field.defaultValue = field.value; // it is written, and may be redrawn
  set(name, field.value, region);
} }, el('label', {}, label && `${label} `, el('input', { name: 'value', value, size: 6, required: true, 'aria-label': name, 'data-focus': `${name} value` })),
el('button', { 'data-focus': `${name} set` }, t`Set`), unset && el('button', { type: 'button', 'data-focus': `${name} unset`, onclick: () => set(name, unset, region) }, { all: t`all`, default: t`default` }[unset]));

const button = (text, name, value, region) => el('button', { type: 'button', 'data-focus': name, 'aria-label': `${text}: ${name}`, onclick: () => set(name, value, region) }, text);

function account(settings) {
  const value = (name) => settings.find((s) => s.name === `account.${name}`)?.value;
  const owes = value('arrears') === 'true';
  return [el('p', { class: 'bar' }, t`The account `, owes ? badge(t`is in arrears`, 'bad') : badge(t`has paid`, 'good'),
    button(owes ? t`Pay` : t`Fall into arrears`, 'account.arrears', !owes)),
  owes && el('p', { class: 'quiet' }, t`It can't buy anything. Its load balancers are locked after ${value('graceDays')} days and released ${value('releaseDays')} days later.`),
  el('div', { class: 'bar' }, setter('account.balance', value('balance'), { label: t`Balance in CNY` }), setter('account.graceDays', value('graceDays'), { label: t`Days of grace` }), setter('account.releaseDays', value('releaseDays'), { label: t`Days to release` }))];
}

const zones = (list) => [table('', [t`Zone`, t`Sells`, ''], list.map((z) => [z.id,
  badge(z.status === 'available' ? t`available` : t`sold out: ${z.fields.soldOut.replace(',', ', ')}`, z.status === 'available' ? 'good' : 'bad'),
  z.status === 'available' ? button(t`Sell out`, `stock.${z.id}`, 'soldout', z.region) : button(t`Restock`, `stock.${z.id}`, 'available', z.region)]))];

const vSwitches = (list) => list.length
  ? [table('', [t`vSwitch`, t`Block`, t`Free`, t`Set`], list.map((s) => [[s.name || s.id, s.name && el('span', { class: 'id' }, s.id)], [s.fields.cidr, el('span', { class: 'id' }, s.fields.zone)],
    el('td', { class: 'number' }, badge(s.fields.free, s.fields.free === '0' ? 'bad' : 'good')), setter(`vswitch.${s.id}.freeAddresses`, s.fields.free, { unset: 'all', region: s.region })]))]
  : [el('p', {}, t`There are no vSwitches in this region.`), command('clbemu call CreateVSwitch VpcId=… ZoneId=… CidrBlock=…')];

function quotas(list) {
  const wanted = (asked().get('q') ?? '').toLowerCase();
  const most = (q) => (q.holders ?? []).reduce((top, h) => (h.used > (top?.used ?? -1) ? h : top), undefined);
  const share = (q) => (most(q)?.used ?? 0) / Math.max(q.limit, 1); // the fullest come first
  const chosen = list.filter((q) => q.name.includes(wanted) && (!asked().has('used') || q.holders?.some((h) => h.used > 0)))
    .sort((a, b) => share(b) - share(a) || (a.name < b.name ? -1 : 1));
  if (!chosen.length) return [el('p', {}, wanted ? t`No quota matches.` : t`No quota is in use yet.`)];
  return [table('', [t`Quota`, t`Used at most`, t`Limit`], chosen.map((q) => {
    const top = most(q);
    const full = top && top.used >= q.limit;
    const who = top && el('span', { class: 'id' }, t`by ${top.id}`, q.holders.length > 1 && t` and ${q.holders.length - 1} more`);
    return [[breakable(q.name), who], top ? badge(t`${top.used} of ${q.limit}`, full ? 'bad' : 'good') : el('span', { class: 'quiet' }, t`none`),
      setter(`quota.${q.name}`, q.limit, { unset: q.limit === q.default ? undefined : 'default' })];
  }))];
}

const everything = (settings) => [table('', [t`Condition`, t`Value`, ''], settings.map((s) => [s.name, el('td', {}, el('pre', {}, s.value)),
  el('button', { type: 'button', 'aria-label': t`Change ${s.name}`, 'data-focus': `${s.name} change`, onclick: () => choose(s.name, s.value) }, t`Change`)]))];

function choose(name, value = '') {
  const form = $('#set');
  form.elements.name.value = name;
  form.elements.value.value = value;
  help();
  form.elements.value.focus({ preventScroll: true });
  form.scrollIntoView({ block: 'center' });
}

// The clock goes on here as it does there.
let clock;
function tick() {
  if (!clock) return;
  const now = new Date(Date.parse(clock.now) + (performance.now() - clock.at) * clock.scale);
  $('#now').textContent = now.toISOString().replace('T', ' ').slice(0, 19);
  $('#pace').textContent = clock.scale === 0 ? t`frozen` : clock.scale === 1 ? t`real time` : t`${clock.scale}× speed`;
}
async function change(body) {
  await attempt(() => call('POST', '/v1/clock', { body }));
  await refresh();
}

let known = [];
function help() {
  const name = $('#set').elements.name.value;
  const row = known.find((c) => new RegExp(`^${c.name.replaceAll('.', '\\.').replace(/<.*>/, '.+')}$`).test(name));
  $('#help-of').textContent = row ? t`${translated(row.help)} (of the ${translated(row.scope)})` : '';
}

// linked is the condition that the address names; the page has its length once all is drawn.
let linked = asked().get('set');
const refresh = latest(() => Promise.all([get('/v1/world', whose()), get('/v1/quotas', whose()),
  get('/v1/resources', { kind: 'vswitch,zone', ...whose() }), get('/v1/clock'), get('/v1/resources', { kind: 'zone' })]), ([world, quota, there, time, all]) => {
  clock = { ...time, at: performance.now() };
  tick();
  const regions = [...new Set(all.resources.map((z) => z.region))];
  if ($('#region').options.length === 1) $('#region').append(...regions.map((r) => el('option', { value: r }, r)));
  $('#region').value = whose().region;
  const of = (kind) => there.resources.filter((r) => r.kind === kind);
  redraw($('#account > div'), world.conditions.filter((s) => s.name.startsWith('account.')), account);
  redraw($('#zones > div'), of('zone'), zones);
  redraw($('#vswitches > div'), of('vswitch'), vSwitches);
  redraw($('#quotas > div:last-child'), quota.quotas, quotas, location.search);
  $('#all summary').textContent = t`All conditions in force: ${world.conditions.length}`;
  redraw($('#all details > div'), world.conditions, everything);
  if (linked) choose(linked);
  linked = null;
});

begin();
for (const b of document.querySelectorAll('[data-advance]')) b.addEventListener('click', () => change({ advance: b.dataset.advance }));
for (const b of document.querySelectorAll('[data-scale]')) b.addEventListener('click', () => change({ scale: Number(b.dataset.scale) }));
$('#advance').addEventListener('submit', (event) => {
  event.preventDefault();
  change({ advance: event.target.elements.by.value });
});
$('#set').addEventListener('submit', (event) => {
  event.preventDefault();
  set(event.target.elements.name.value, event.target.elements.value.value);
});
$('#set').elements.name.addEventListener('input', help);
$('#region').addEventListener('change', (event) => go({ region: event.target.value }));
$('#search').addEventListener('input', (event) => go({ q: event.target.value }, true));
$('#used').addEventListener('change', (event) => go({ used: event.target.checked ? 'only' : '' }, true));
for (const form of document.querySelectorAll('form[role=search]')) form.addEventListener('submit', (event) => event.preventDefault());
key('s', t`set a condition`, () => $('#set input').focus());
get('/v1/conditions').then(({ conditions }) => {
  known = conditions;
  fill($('#names'), conditions.flatMap((c) => (c.named ? c.named.map((named) => c.name.replace(/<.*>/, named)) : [c.name])).map((value) => el('option', { value })));
  help();
}, () => {});
addressed((query) => {
  if ($('#search') !== document.activeElement) $('#search').value = query.get('q') ?? '';
  $('#used').checked = query.has('used');
  attempt(refresh);
});
setInterval(tick, 1000);
onNews(refresh, 400);
