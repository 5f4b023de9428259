// Load balancers with listeners, groups, servers and their health, as they change.

import { follow, get, named } from './api.js';
import { addServer, createBalancer, createGroup, createListener } from './create.js';
import { act, can, drop, mark } from './deeds.js';
import { $, addressed, asked, badge, begin, breakable, checked, command, connection, el, fill, go, heads, held, key, loading, ordered, redraw, say, soon, sure, table, terms, to, unchecked } from './page.js';
import { field, t } from './words.js';

const kinds = 'lb,listener,rule,group,backend';
let resources = new Map(); // by kind and id
let coming; // what a new stream has sent so far
const idOf = (r) => `${r.kind} ${r.id}`;

// serviceOf is the Service that a Cloud Controller Manager made a listener or a group for,
// as namespace/name: it writes k8s/80/web/default/cluster for CLB and
// k8s.80.TCP.web.default.cluster for NLB, whose namespaces and Services have no dots.
const serviceOf = (name) => {
  const [, service, namespace] = /^k8s\/[^/]+\/([^/]+)\/([^/]+)\/[^/]+$/.exec(name ?? '') ?? /^k8s\.[^.]+\.[^.]+\.([^.]+)\.([^.]+)\./.exec(name ?? '') ?? [];
  return service && `${namespace}/${service}`;
};
const servicesOf = (shown) => [...new Set(shown.listeners.flatMap(({ listener: l, group: g }) => [serviceOf(l.name), serviceOf(g?.group.name)]).filter(Boolean))];

// parts holds the parts of each load balancer.
function parts() {
  const of = new Map();
  for (const r of resources.values()) {
    const id = r.kind === 'lb' ? r.id : r.loadBalancer;
    if (!id) continue;
    if (!of.has(id)) of.set(id, { servers: [], words: '' });
    const part = of.get(id);
    if (r.kind === 'lb') part.lb = r;
    if (r.kind === 'backend') part.servers.push(r);
    part.words += ` ${r.id} ${r.name ?? ''} ${r.fields.address ?? ''} ${r.fields.server ?? ''} ${serviceOf(r.name) ?? ''}`;
  }
  return [...of.values()].filter((part) => part.lb);
}

// Servers that no listener checks are neither healthy nor unhealthy.
const tested = (servers) => servers.filter((s) => !unchecked(s.fields.health));
const healthy = (servers) => servers.filter((s) => s.fields.health === 'normal').length;
const unwell = (servers) => healthy(servers) < tested(servers).length;
const sick = (servers) => servers.some((s) => s.fields.health === 'abnormal');

// health shows how many of the servers that are checked are healthy.
function health(servers) {
  const all = tested(servers).length;
  if (!all) return el('span', { class: 'quiet' }, servers.length ? t`not checked` : t`none`);
  return badge(`${healthy(servers)}/${all}`, sick(servers) ? 'bad' : unwell(servers) ? 'odd' : 'good');
}

// What is selected, to be deleted together.
const selected = new Set();
let listing = []; // what the list shows
function select(id, is) {
  selected[is ? 'add' : 'delete'](id);
  draw();
}

const columns = [{ name: 'name', title: t`Name`, class: 'most' }, { name: 'product', title: t`Product` }, { name: 'status', title: t`Status` }, { name: 'address', title: t`Address`, class: 'wide' },
  { name: 'listeners', title: t`Listeners`, class: 'number lesser' }, { name: 'servers', title: t`Servers`, class: 'number lesser' }, { name: 'health', title: t`Healthy` }];
const cellOf = ({ lb, servers }, name) => ({ name: lb.name || lb.id, product: lb.productTitle ?? lb.product, status: lb.status, servers: String(servers.length),
  health: tested(servers).length ? String(healthy(servers) / tested(servers).length) : '2' })[name] ?? lb.fields[name];

const made = new Map(); // rows by id, with what they show
function row({ lb, servers }, current) {
  const shows = JSON.stringify([lb, servers.map((s) => s.fields.health), current, selected.has(lb.id)]);
  const old = made.get(lb.id);
  if (old?.shows === shows) return old.row;
  const cell = (content, title) => el('td', { 'data-title': title }, content);
  const fresh = el('tr', { 'data-id': lb.id, class: current && 'current' },
    el('th', { scope: 'row' }, el('input', { type: 'checkbox', checked: selected.has(lb.id), 'aria-label': t`Select ${lb.name || lb.id}`, onchange: (event) => select(lb.id, event.target.checked) }), ' ', el('a', { class: 'row', href: to({ lb: lb.id }), 'aria-current': current && 'true' }, lb.name || lb.id), lb.name && el('span', { class: 'id' }, lb.id)),
    cell(lb.productTitle ?? lb.product, t`Product`), cell(badge(lb.status), t`Status`), cell(lb.fields.address?.replaceAll(',', ', ') ?? '', t`Address`),
    el('td', { class: 'number lesser', 'data-title': t`Listeners` }, lb.fields.listeners), el('td', { class: 'number lesser', 'data-title': t`Servers` }, String(servers.length)), cell(health(servers), t`Healthy`));
  made.set(lb.id, { shows, row: fresh });
  return fresh;
}

function draw() {
  const body = $('#balancers tbody');
  if (held(body, draw)) return;
  loading(coming !== undefined && !resources.size);
  const query = asked();
  const wanted = (query.get('q') ?? '').toLowerCase();
  const all = ordered(parts(), 'name', cellOf);
  const chosen = all.filter((part) => part.words.toLowerCase().includes(wanted) && (!query.has('unhealthy') || unwell(part.servers)));
  listing = chosen.map((part) => part.lb);
  for (const id of selected) if (!all.some((part) => part.lb.id === id)) selected.delete(id);
  $('#chosen').hidden = selected.size === 0;
  $('#chosen strong').textContent = t`${selected.size} selected`;
  redraw($('#balancers thead tr'), [query.get('sort')], () => heads(columns));
  const focused = document.activeElement?.closest('tr')?.dataset.id;
  fill(body, chosen.map((part) => row(part, part.lb.id === query.get('lb'))));
  if (focused && document.activeElement === document.body) $(`tr[data-id="${CSS.escape(focused)}"] a`)?.focus();
  $('#count').textContent = chosen.length === all.length ? String(all.length) : t`${chosen.length} of ${all.length}`;
  $('#balancers').hidden = chosen.length === 0;
  empty(all.length, chosen.length);
}

function empty(all, chosen) {
  const none = $('#none');
  none.hidden = chosen > 0 || resources.size === 0 && coming !== undefined;
  if (all > 0) return fill(none, el('p', {}, t`No load balancer matches the search.`));
  return fill(none, el('h2', {}, t`There are no load balancers yet`),
    el('p', {}, t`Create one, and it appears here at once:`), command('clbemu call CreateLoadBalancer AddressType=internet LoadBalancerSpec=slb.s1.small LoadBalancerName=web'),
    el('p', {}, t`Run a test of a client:`), command('clbemu scenario run reply-lost-after-create', true),
    el('p', {}, t`Or point a controller, Terraform or an SDK here:`), command('clbemu env'));
}

// The one that is looked at, and what went through its listeners.
let tree;
let traffic = new Map(); // by listener
let staged = {}; // what health checks find of servers by a condition
const conditions = async ({ account, region }) => {
  const { conditions: set } = await get('/v1/world', { account, region });
  staged = Object.fromEntries(set.map(({ name, value }) => [/^server\.(.*)\.health$/.exec(name)?.[1], value]).filter(([name]) => name));
};
const answers = () => tree?.listeners?.some((l) => l.listener.fields.answersAt);
const count = async (id) => {
  const { listeners } = await get('/v1/traffic', { name: id });
  traffic = new Map(listeners.map((l) => [l.listener, l.servers]));
};
const refresh = soon(async () => {
  const id = asked().get('lb');
  if (!id) return;
  try {
    tree = await get(named('/v1/loadbalancers/', id));
    await conditions(tree.loadBalancer);
    if (answers()) await count(tree.loadBalancer.id);
  } catch (problem) {
    tree = problem.status === 404 ? { gone: problem.message } : tree;
    if (problem.status !== 404) say(problem.message);
  }
  drawTree();
}, 50);

// done waits for a deed and looks again: a stream of resources has no tags or conditions.
const done = async (deed) => {
  const result = await deed;
  refresh();
  return result;
};

function drawTree() {
  const detail = $('#detail');
  const id = asked().get('lb');
  detail.hidden = !id;
  $('.panes').classList.toggle('both', Boolean(id));
  if (id) redraw(detail, [tree, [...traffic], staged, location.search], () => (tree ? looked(tree) : el('p', { class: 'quiet' }, t`Loading…`)));
}

function looked({ gone, loadBalancer: lb, ...shown }) {
  const close = el('a', { class: 'close', href: to({ lb: '' }) }, t`Close`);
  if (gone) return [close, el('p', {}, gone)];
  return [el('div', { class: 'bar' }, el('h2', {}, lb.name || lb.id), badge(lb.status), can('deleteBalancer', lb) && el('button', { type: 'button', onclick: () => done(drop(lb)) }, t`Delete`), close),
    terms([[t`Id`, lb.id], [t`Product`, lb.productTitle ?? lb.product], [t`Region`, lb.region], [t`Type`, lb.fields.type],
      [t`Addresses`, tree.addresses.map((a) => el('span', { class: 'line' }, [a.address, a.zone && t` in ${a.zone}`, a.eip && ` (${a.eip})`].filter(Boolean).join('')))],
      [t`DNS name`, lb.fields.dnsName], [t`VPC`, lb.fields.vpc], [t`vSwitch`, lb.fields.vswitch], [t`Spec`, lb.fields.spec], [t`Created`, lb.fields.created],
      ['Service', servicesOf(shown).join(', ')]]),
    el('h3', {}, t`Tags`), tags(lb, shown.tags),
    el('div', { class: 'bar' }, el('h3', {}, t`Listeners`), el('button', { type: 'button', onclick: () => createListener(lb, refresh) }, t`Add a listener`), el('button', { type: 'button', onclick: () => createGroup(lb, refresh) }, t`Add a server group`)),
    shown.listeners.length ? el('ul', { class: 'tree' }, shown.listeners.map(listener))
      : el('div', { class: 'empty' }, el('p', {}, t`It has no listeners.`), lb.product === 'Slb' && command(`clbemu call CreateLoadBalancerTCPListener LoadBalancerId=${lb.id} ListenerPort=80 BackendServerPort=8080 Bandwidth=-1`)),
    shown.groups.length > 0 && el('h3', {}, t`Groups without a listener`), shown.groups.length > 0 && el('ul', { class: 'tree' }, shown.groups.map((g) => el('li', {}, group(g)))),
    shown.faults.length > 0 && el('h3', {}, t`Faults that may affect it`),
    shown.faults.length > 0 && el('ul', {}, shown.faults.map((f) => el('li', {}, el('a', { href: `faults?rule=${encodeURIComponent(f.name)}` }, f.name), t` changed ${f.hits} of ${f.seen} calls`))),
    shown.quotas.length > 0 && el('h3', {}, t`Quotas that it uses`),
    shown.quotas.length > 0 && table('', [t`Quota`, t`Used`, t`Used by`], shown.quotas.map((q) => [breakable(q.name), t`${q.used}\u00a0of\u00a0${q.limit}`, q.by])),
    el('p', { class: 'bar' }, el('a', { href: `journal?resource=${encodeURIComponent(lb.id)}` }, t`Calls about it`), command(`clbemu get lb ${lb.id}`))];
}

// tags shows the tags, each with a button that removes it, and takes another or another value.
function tags(lb, all) {
  const shown = Object.entries(all).map(([name, value]) => el('li', {}, el('code', {}, value ? `${name}=${value}` : name),
    can('untag', lb) && el('button', { type: 'button', 'aria-label': t`Remove the tag ${name}`, 'data-focus': `untag ${name}`, onclick: () => done(act('untag', lb, name)) }, t`Remove`)));
  const name = el('input', { name: 'key', required: true, size: 14, maxlength: 128, placeholder: t`key`, 'aria-label': t`Key of the tag`, 'data-focus': 'tag key', autocomplete: 'off' });
  const value = el('input', { name: 'value', size: 14, maxlength: 128, placeholder: t`value`, 'aria-label': t`Value of the tag`, 'data-focus': 'tag value', autocomplete: 'off' });
  return el('div', {}, shown.length > 0 && el('ul', { class: 'tags' }, shown), can('tag', lb) && el('form', { id: 'tag', class: 'line', onsubmit: async (event) => {
    event.preventDefault();
    if (await done(act('tag', lb, name.value, value.value))) name.value = value.value = '';
  } }, name, value, el('button', {}, t`Set tag`)));
}

// Traffic is no change of a resource: it is asked for while it is looked at.
setInterval(async () => {
  if (!asked().get('lb') || document.hidden || !answers()) return;
  const before = JSON.stringify([...traffic]);
  try {
    await count(tree.loadBalancer.id);
  } catch {
    return; // the connection says that it is lost
  }
  if (JSON.stringify([...traffic]) !== before) drawTree();
}, 2000);

const where = (l) => l.fields.answersAt
  ? el('p', { class: 'quiet' }, t`answers at `, el('code', {}, l.fields.answersAt))
  : l.fields.problem && el('p', { class: 'quiet' }, t`does not answer: ${l.fields.problem}`);

const listener = ({ listener: l, group: g, rules }) => el('li', {},
  el('p', { class: 'node' }, el('strong', {}, `${l.fields.protocol}:${l.fields.port}`), badge(l.status), l.name && el('span', { class: 'quiet' }, l.name),
    ...['scheduler', 'acl', 'certificate', 'bandwidth'].filter((name) => l.fields[name]).map((name) => el('span', { class: 'quiet' }, `${field(name)} ${l.fields[name]}`)), buttons(l)),
  where(l),
  el('ul', {}, g ? el('li', {}, group(g, traffic.get(l.id))) : el('li', { class: 'quiet' }, t`it forwards to no server`),
    rules.map((r) => el('li', {}, el('p', { class: 'node' }, t`rule `, el('strong', {}, (r.domain ?? '') + (r.url ?? '')), el('span', { class: 'quiet' }, `${r.name} ${r.id}`)), r.group && group(r.group, traffic.get(l.id))))));

// buttons offers the actions on a listener.
function buttons(l) {
  const button = (text, act) => el('button', { type: 'button', 'aria-label': t`${text} the listener ${l.fields.protocol}:${l.fields.port}`, 'data-focus': `${text} ${l.id}`, onclick: act }, text);
  const switched = /^running$/i.test(l.status) ? 'stop' : /^stopped$/i.test(l.status) && 'start';
  return el('span', { class: 'line push' }, switched && can(switched, l) && button(switched === 'stop' ? t`Stop` : t`Start`, () => done(act(switched, l))),
    can('deleteListener', l) && button(t`Delete`, async () => {
      if (await sure(t`Delete the listener ${l.fields.protocol}:${l.fields.port}?`, t`Clients get no answer at this port any more. The group and its servers stay.`, t`Delete`)) done(act('deleteListener', l));
    }));
}

// weight is a field for the weight of a server, where that can be changed.
const weight = (g, s) => can('weigh', g, s, 0) ? el('form', { class: 'line', onsubmit: (event) => {
  event.preventDefault();
  const field = event.target.elements.weight;
  field.defaultValue = field.value; // it is written, and may be redrawn
  done(act('weigh', g, s, field.value));
} }, el('input', { name: 'weight', type: 'number', min: 0, max: 100, required: true, value: s.fields.weight, 'aria-label': t`Weight of ${s.id}`, 'data-focus': `weight ${s.id}` }), el('button', { 'aria-label': t`Set the weight of ${s.id}` }, t`Set`)) : s.fields.weight;

// marked shows what checks find of a server, and sets it.
const marked = (s) => {
  const name = s.fields.server || s.fields.address;
  return el('div', {}, checked(s.fields.health), el('select', { 'aria-label': t`What health checks find of ${s.id}`, 'data-focus': `health ${s.id}`, onchange: (event) => done(mark(s, event.target.value)) },
    [['default', t`as checked`], ['normal', t`healthy`], ['abnormal', t`unhealthy`], ['unavailable', t`unavailable`]].map(([value, text]) => el('option', { value, selected: (staged[name] ?? 'default') === value }, text))));
};

// share shows the part that a server has in the traffic of its listener: requests of HTTP,
// connections of all else.
function share(server, shares) {
  const of = (one) => one.requests || one.connections;
  const total = shares.reduce((sum, one) => sum + of(one), 0);
  const own = shares.find((one) => one.server === `${server.fields.server || server.fields.address}:${server.fields.port}`);
  if (!own || !total) return '';
  return el('span', {}, el('meter', { min: 0, max: total, value: of(own) }), ` ${of(own)}`);
}

const group = ({ group: g, servers }, shares) => el('div', {},
  el('p', { class: 'node' }, t`group `, el('strong', {}, g.name || g.id), badge(g.status), g.name && el('span', { class: 'id' }, g.id), health(servers),
    can('addServer', g, { fields: {} }) && el('button', { type: 'button', class: 'push', 'aria-label': t`Add a server to ${g.name || g.id}`, 'data-focus': `add ${g.id}`, onclick: () => addServer(g, refresh) }, t`Add a server`)),
  servers.length > 0 && table('', [t`Server`, t`Weight`, t`Health`, ...(shares ? [t`Traffic`] : [])],
    servers.map((s) => [el('span', {}, el('span', { class: 'line' }, s.fields.server), s.fields.address && el('span', { class: 'line quiet' }, `${s.fields.address}${s.fields.port ? `:${s.fields.port}` : ''}`)), weight(g, s),
      marked(s), ...(shares ? [share(s, shares)] : [])])),
  servers.filter((s) => s.fields.problem).map((s) => el('p', { class: 'quiet' }, `${s.fields.server || s.fields.address}: ${s.fields.problem}`)));

// What comes.
const list = soon(async () => draw(), 30);
function change({ data: { change: what, resource: r } }) {
  if (what === 'synced') {
    [resources, coming] = [coming, undefined];
    refresh();
  } else if (coming) {
    coming.set(idOf(r), r);
    return;
  } else if (what === 'deleted') resources.delete(idOf(r));
  else resources.set(idOf(r), r);
  if (r && concerns(r)) refresh();
  list();
}

// concerns reports whether a change may be seen in what is looked at.
function concerns(r) {
  const id = asked().get('lb');
  const shown = (g) => g && (g.group.id === r.id || g.group.id === r.fields?.group);
  return id && (r.id === id || r.loadBalancer === id || tree?.listeners?.some((l) => shown(l.group)));
}

begin();
$('#search').addEventListener('input', (event) => go({ q: event.target.value }, true));
$('#unwell').addEventListener('change', (event) => go({ unhealthy: event.target.checked ? 'only' : '' }, true));
$('form[role=search]').addEventListener('submit', (event) => event.preventDefault());
$('#create').addEventListener('click', () => createBalancer((id) => go({ lb: id })));
$('#drop').addEventListener('click', () => done(drop(...listing.filter((lb) => selected.has(lb.id)))));
$('#all').addEventListener('click', () => { for (const lb of listing) selected.add(lb.id); draw(); });
$('#no').addEventListener('click', () => { selected.clear(); draw(); });
key('c', t`create a load balancer`, () => $('#create').click());
key('u', t`unhealthy only`, () => $('#unwell').click());
addressed((query) => {
  if ($('#search') !== document.activeElement) $('#search').value = query.get('q') ?? '';
  $('#unwell').checked = query.has('unhealthy');
  tree = tree?.loadBalancer?.id === query.get('lb') ? tree : undefined;
  made.clear(); // links hold what else is asked for
  if (resources.size) draw();
  drawTree();
  refresh();
});
follow('/v1/resources/stream', { kind: kinds }, { begin: () => { coming = new Map(); }, event: change, state: connection, refused: (problem) => say(problem.message) });
