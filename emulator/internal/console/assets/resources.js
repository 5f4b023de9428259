// The resources of every kind, as they change, and one with all its fields.

import { follow, get } from './api.js';
import { addEntry } from './create.js';
import { $, addressed, asked, badge, begin, checked, command, connection, el, fill, go, heads, loading, ordered, redraw, say, soon, table, terms, to } from './page.js';
import { field, t, translated } from './words.js';

let kinds = [];
let resources = new Map(); // of the kind that is shown, by id
let coming; // what a new stream has sent so far
let stop = () => {};
let followed;

const first = 'vswitch';
const chosen = () => asked().get('kind') || first;

// column is what a resource has under a name, as clbemu get shows it.
const column = (r, name) => ({ id: r.id, name: r.name, status: r.status, product: r.product, region: r.region, account: r.account, loadBalancer: r.loadBalancer })[name] ?? r.fields[name] ?? '';

const english = { id: 'Id', vswitch: 'vSwitch', vswitches: 'vSwitches', vpc: 'VPC', cidr: 'CIDR block', dnsName: 'DNS name', acl: 'ACL', url: 'URL', isp: 'ISP' };
const spelled = (name) => field(name, english[name] ?? name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/^./, (c) => c.toUpperCase()));

// shown is a value: ids of load balancers lead to them, and a status has its colour.
function shown(name, value) {
  if (name === 'status') return badge(value);
  if (name === 'health' && !value.includes('/')) return checked(value);
  if (name === 'free') return badge(value, value === '0' ? 'bad' : 'good');
  if (/^n?lb-[^/_]+$/.test(value)) return el('a', { href: `./?lb=${encodeURIComponent(value)}` }, value);
  return value.replaceAll(',', ', ');
}

const collator = new Intl.Collator('en', { numeric: true });
const firstOf = (r, name) => (name === 'first' ? r.name || r.id : column(r, name));

function draw() {
  loading(coming !== undefined || !kinds.length);
  const kind = kinds.find((k) => k.name === chosen());
  if (!kind) return;
  const wanted = (asked().get('q') ?? '').toLowerCase();
  const columns = kind.columns.filter((c) => !c.wide).map((c) => c.name);
  const all = ordered([...resources.values()], 'first', firstOf);
  const list = all.filter((r) => JSON.stringify(Object.values({ ...r, fields: Object.values(r.fields) })).toLowerCase().includes(wanted));
  const current = asked().get('id');
  $('#count').textContent = list.length === all.length ? String(all.length) : t`${list.length} of ${all.length}`;
  $('#resources').hidden = list.length === 0;
  redraw($('#resources thead tr'), [columns, asked().get('sort')], () => heads(columns.map((name) => ({ name, title: spelled(name) }))));
  redraw($('#resources tbody'), [list, columns, current, location.search], () => list.map((r) => el('tr', { class: r.id === current && 'current' }, columns.map((name, i) => (i === 0
    ? el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ id: r.id }), 'aria-current': r.id === current && 'true', 'data-focus': r.id }, column(r, name)))
    : el('td', { 'data-title': spelled(name) }, shown(name, column(r, name))))))));
  const none = $('#none');
  none.hidden = list.length > 0 || coming !== undefined;
  fill(none, all.length ? el('p', {}, t`Nothing matches the search.`) : el('p', {}, t`There are no ${translated(kind.title).replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase())}.`));
  drawOne(kind, current && resources.get(current));
}

function drawOne(kind, r) {
  const detail = $('#detail');
  const id = asked().get('id');
  detail.hidden = !id || coming !== undefined;
  $('.panes').classList.toggle('both', !detail.hidden);
  if (detail.hidden) return;
  const close = el('a', { class: 'close', href: to({ id: '' }) }, t`Close`);
  redraw(detail, [r, id], () => (r ? [el('div', { class: 'bar' }, el('h2', {}, r.name || r.id), r.status && badge(r.status), close),
    terms([[t`Id`, r.id], [t`Kind`, translated(kind.title)], [t`Product`, r.productTitle ?? r.product], [t`Account`, r.account], [t`Region`, r.region],
      [t`Load balancer`, r.loadBalancer && shown('loadBalancer', r.loadBalancer)], ...Object.entries(r.fields).sort(([a], [b]) => collator.compare(a, b)).map(([name, value]) => [spelled(name), shown(name, value)])]),
    kind.name === 'acl' && el('p', {}, el('button', { type: 'button', 'data-focus': 'entry', onclick: () => addEntry(r) }, t`Add an entry`)),
    el('p', { class: 'bar' }, el('a', { href: `journal?text=${encodeURIComponent(r.id)}` }, t`Calls about it`), command(`clbemu get ${kind.name} ${r.id}`))]
    : [close, el('p', {}, t`There is no ${kind.name} ${id}.`)]));
}

const later = soon(async () => draw(), 30);

function change({ data: { change: what, resource: r } }) {
  if (what === 'synced') [resources, coming] = [coming, undefined];
  else if (coming) return void coming.set(r.id, r);
  else if (what === 'deleted') resources.delete(r.id);
  else resources.set(r.id, r);
  later();
}

// watch follows the kind that is asked for.
function watch() {
  if (followed === chosen()) return;
  followed = chosen();
  stop();
  resources = new Map();
  stop = follow('/v1/resources/stream', { kind: followed }, { begin: () => { coming = new Map(); }, event: change, state: connection, refused: (problem) => say(problem.message) });
}

begin();
$('#search').addEventListener('input', (event) => go({ q: event.target.value }, true));
$('#kind').addEventListener('change', (event) => go({ kind: event.target.value, id: '', sort: '' }));
$('form[role=search]').addEventListener('submit', (event) => event.preventDefault());
get('/v1/resources/kinds').then((list) => {
  kinds = list.kinds;
  fill($('#kind'), kinds.map((k) => el('option', { value: k.name }, translated(k.title))));
  if (!kinds.some((k) => k.name === chosen())) {
    const near = kinds.find((k) => k.name.toLowerCase() === chosen().toLowerCase());
    go({ kind: near?.name ?? first, id: '', sort: '' }, true);
  }
  $('#kind').value = chosen();
  draw();
}, (problem) => say(problem.message));
addressed((query) => {
  if ($('#search') !== document.activeElement) $('#search').value = query.get('q') ?? '';
  $('#kind').value = chosen();
  watch();
  draw();
});
