// Load balancers with listeners, groups, servers and their health, as they change.

import { follow, get, named } from './api.js';
import { $, addressed, asked, badge, begin, breakable, command, connection, el, fill, go, key, say, soon, table, terms, to } from './page.js';

const kinds = 'lb,listener,rule,group,backend';
let resources = new Map(); // by kind and id
let coming; // what a new stream has sent so far
const idOf = (r) => `${r.kind} ${r.id}`;

// parts are what belongs to each load balancer.
function parts() {
  const of = new Map();
  for (const r of resources.values()) {
    const id = r.kind === 'lb' ? r.id : r.loadBalancer;
    if (!id) continue;
    if (!of.has(id)) of.set(id, { servers: [], words: '' });
    const part = of.get(id);
    if (r.kind === 'lb') part.lb = r;
    if (r.kind === 'backend') part.servers.push(r);
    part.words += ` ${r.id} ${r.name ?? ''} ${r.fields.address ?? ''} ${r.fields.server ?? ''}`;
  }
  return [...of.values()].filter((part) => part.lb);
}

const healthy = (servers) => servers.filter((s) => s.fields.health === 'normal').length;

const sick = (servers) => servers.some((s) => s.fields.health === 'abnormal');

// health shows how many of the servers are healthy; of some nobody knows, as they are not checked.
const health = (servers) => servers.length
  ? badge(`${healthy(servers)}/${servers.length}`, sick(servers) ? 'bad' : healthy(servers) === servers.length ? 'good' : 'odd')
  : el('span', { class: 'quiet' }, 'none');

const made = new Map(); // rows by id, with what they show
function row({ lb, servers }, current) {
  const shows = JSON.stringify([lb, servers.map((s) => s.fields.health), current]);
  const old = made.get(lb.id);
  if (old?.shows === shows) return old.row;
  const cell = (content, title) => el('td', { 'data-title': title }, content);
  const fresh = el('tr', { 'data-id': lb.id, class: current && 'current' },
    el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ lb: lb.id }), 'aria-current': current && 'true' }, lb.name || lb.id), lb.name && el('span', { class: 'id' }, lb.id)),
    cell(lb.productTitle ?? lb.product, 'Product'), cell(badge(lb.status), 'Status'), cell(lb.fields.address?.replaceAll(',', ', ') ?? '', 'Address'),
    el('td', { class: 'number lesser', 'data-title': 'Listeners' }, lb.fields.listeners), el('td', { class: 'number lesser', 'data-title': 'Servers' }, String(servers.length)), cell(health(servers), 'Healthy'));
  made.set(lb.id, { shows, row: fresh });
  return fresh;
}

// put makes the rows those of a table, and moves none that stays.
function put(body, rows) {
  const wanted = new Set(rows);
  for (const old of [...body.children]) if (!wanted.has(old)) old.remove();
  let next = body.firstChild;
  for (const row of rows) {
    if (row === next) next = next.nextSibling;
    else body.insertBefore(row, next);
  }
}

const collator = new Intl.Collator('en', { numeric: true });

function draw() {
  const query = asked();
  const wanted = (query.get('q') ?? '').toLowerCase();
  const all = parts().sort((a, b) => collator.compare(a.lb.name || a.lb.id, b.lb.name || b.lb.id));
  const chosen = all.filter((part) => part.words.toLowerCase().includes(wanted) && (!query.has('unhealthy') || sick(part.servers)));
  const body = $('#balancers tbody');
  const focused = document.activeElement?.closest('tr')?.dataset.id;
  put(body, chosen.map((part) => row(part, part.lb.id === query.get('lb'))));
  if (focused && document.activeElement === document.body) $(`tr[data-id="${CSS.escape(focused)}"] a`)?.focus();
  $('#count').textContent = chosen.length === all.length ? String(all.length) : `${chosen.length} of ${all.length}`;
  $('#balancers').hidden = chosen.length === 0;
  empty(all.length, chosen.length);
}

function empty(all, chosen) {
  const none = $('#none');
  none.hidden = chosen > 0 || resources.size === 0 && coming !== undefined;
  if (all > 0) return fill(none, el('p', {}, 'No load balancer matches the search.'));
  return fill(none, el('h2', {}, 'There are no load balancers yet'),
    el('p', {}, 'Create one, and it appears here at once:'), command('clbemu call CreateLoadBalancer AddressType=internet LoadBalancerSpec=slb.s1.small LoadBalancerName=web'),
    el('p', {}, 'Run a test of a client:'), command('clbemu scenario run reply-lost-after-create', true),
    el('p', {}, 'Or point a controller, Terraform or an SDK here:'), command('clbemu env'));
}

// The one that is looked at, and what went through its listeners.
let tree;
let traffic = new Map(); // by listener
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
    if (answers()) await count(tree.loadBalancer.id);
  } catch (problem) {
    tree = problem.status === 404 ? { gone: problem.message } : tree;
    if (problem.status !== 404) say(problem.message);
  }
  drawTree();
}, 50);

function drawTree() {
  const detail = $('#detail');
  const id = asked().get('lb');
  detail.hidden = !id;
  $('.panes').classList.toggle('both', Boolean(id));
  if (!id || !tree) return;
  const close = el('a', { class: 'close', href: to({ lb: '' }) }, 'Close');
  if (tree.gone) {
    fill(detail, close, el('p', {}, tree.gone));
    return;
  }
  const { loadBalancer: lb } = tree;
  fill(detail, el('div', { class: 'bar' }, el('h2', {}, lb.name || lb.id), badge(lb.status), close),
    terms([['Id', lb.id], ['Product', lb.productTitle ?? lb.product], ['Region', lb.region], ['Type', lb.fields.type],
      ['Addresses', tree.addresses.map((a) => el('span', { class: 'line' }, [a.address, a.zone && ` in ${a.zone}`, a.eip && ` (${a.eip})`].filter(Boolean).join('')))],
      ['DNS name', lb.fields.dnsName], ['VPC', lb.fields.vpc], ['vSwitch', lb.fields.vswitch], ['Spec', lb.fields.spec], ['Created', lb.fields.created],
      ['Tags', Object.entries(tree.tags).map(([name, value]) => el('code', { class: 'line' }, value ? `${name}=${value}` : name))]]),
    el('h3', {}, 'Listeners'),
    tree.listeners.length ? el('ul', { class: 'tree' }, tree.listeners.map(listener))
      : el('div', { class: 'empty' }, el('p', {}, 'It has no listeners.'), lb.product === 'Slb' && command(`clbemu call CreateLoadBalancerTCPListener LoadBalancerId=${lb.id} ListenerPort=80 BackendServerPort=8080 Bandwidth=-1`)),
    tree.groups.length > 0 && el('h3', {}, 'Groups without a listener'), tree.groups.length > 0 && el('ul', { class: 'tree' }, tree.groups.map((g) => el('li', {}, group(g)))),
    tree.faults.length > 0 && el('h3', {}, 'Faults that may affect it'),
    tree.faults.length > 0 && el('ul', {}, tree.faults.map((f) => el('li', {}, el('a', { href: `/faults?rule=${encodeURIComponent(f.name)}` }, f.name), ` changed ${f.hits} of ${f.seen} calls`))),
    tree.quotas.length > 0 && el('h3', {}, 'Quotas that it uses'),
    tree.quotas.length > 0 && table('', ['Quota', 'Used', 'By'], tree.quotas.map((q) => [breakable(q.name), `${q.used}\u00a0of\u00a0${q.limit}`, q.by])),
    el('p', { class: 'bar' }, el('a', { href: `/journal?resource=${encodeURIComponent(lb.id)}` }, 'Calls about it'), command(`clbemu get lb ${lb.id}`)));
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
  ? el('p', { class: 'quiet' }, 'answers at ', el('code', {}, l.fields.answersAt))
  : l.fields.problem && el('p', { class: 'quiet' }, `does not answer: ${l.fields.problem}`);

const listener = ({ listener: l, group: g, rules }) => el('li', {},
  el('p', { class: 'node' }, el('strong', {}, `${l.fields.protocol}:${l.fields.port}`), badge(l.status), l.name && el('span', { class: 'quiet' }, l.name),
    ...['scheduler', 'acl', 'certificate', 'bandwidth'].filter((name) => l.fields[name]).map((name) => el('span', { class: 'quiet' }, `${name} ${l.fields[name]}`))),
  where(l),
  el('ul', {}, g ? el('li', {}, group(g, traffic.get(l.id))) : el('li', { class: 'quiet' }, 'it forwards to no server'),
    rules.map((r) => el('li', {}, el('p', { class: 'node' }, 'rule ', el('strong', {}, (r.domain ?? '') + (r.url ?? '')), el('span', { class: 'quiet' }, `${r.name} ${r.id}`)), r.group && group(r.group, traffic.get(l.id))))));

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
  el('p', { class: 'node' }, 'group ', el('strong', {}, g.name || g.id), badge(g.status), g.name && el('span', { class: 'id' }, g.id), health(servers)),
  servers.length > 0 && table('', ['Server', 'Weight', 'Health', ...(shares ? ['Traffic'] : [])],
    servers.map((s) => [el('span', {}, el('span', { class: 'line' }, s.fields.server), s.fields.address && el('span', { class: 'line quiet' }, `${s.fields.address}${s.fields.port ? `:${s.fields.port}` : ''}`)), s.fields.weight,
      badge(s.fields.health), ...(shares ? [share(s, shares)] : [])])),
  servers.filter((s) => s.fields.problem).map((s) => el('p', { class: 'quiet' }, `${s.fields.server || s.fields.address}: ${s.fields.problem}`)));

// What comes.
const redraw = soon(async () => draw(), 30);
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
  redraw();
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
key('u', 'unhealthy only', () => $('#unwell').click());
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
