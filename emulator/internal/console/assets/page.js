// What all pages have: making elements of texts, the address as what is shown, keys,
// the state of the connection, and the question for a token.

import { call, cloud, follow, get, named, onTokenWanted, token } from './api.js';
import { switchLanguage, t } from './words.js';

export const $ = (selector, within = document) => within.querySelector(selector);

// el makes an element. Children are elements and texts; a text never becomes markup.
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...there(children));
  return element;
}

// there are the children that are any.
const there = (children) => children.flat(Infinity).filter((child) => child !== '' && child != null && child !== false);

// fill replaces what an element holds, and does not move what stays.
export function fill(element, ...children) {
  const wanted = there(children);
  const stays = new Set(wanted);
  for (const old of [...element.childNodes]) if (!stays.has(old)) old.remove();
  let next = element.firstChild;
  for (const child of wanted) {
    if (child === next) next = next.nextSibling;
    else element.insertBefore(child instanceof Node ? child : document.createTextNode(child), next);
  }
}

// table makes a table of columns' titles and rows of cells, which in a narrow window say
// themselves what they are.
export const table = (caption, columns, rows) =>
  el('table', {}, caption && el('caption', {}, caption),
    el('thead', {}, el('tr', {}, columns.map((title) => el('th', { scope: 'col' }, title)))),
    el('tbody', {}, rows.map((cells) => el('tr', {}, cells.map((content, i) => {
      const cell = content instanceof HTMLTableCellElement ? content : el('td', {}, content);
      if (i && columns[i]) cell.dataset.title = columns[i];
      return cell;
    })))));

// heads makes the heads of a table whose rows ordered sorts: the address says by which column,
// with a - before it where the last comes first.
export const heads = (columns) => columns.map(({ name, title, ...attributes }) => {
  const now = asked().get('sort');
  const by = now === name ? 'ascending' : now === `-${name}` && 'descending';
  return el('th', { scope: 'col', 'aria-sort': by, ...attributes },
    el('button', { type: 'button', class: 'sort', 'data-focus': `sort ${name}`, onclick: () => go({ sort: asked().get('sort') === name ? `-${name}` : name }, true) }, title));
});

const collator = new Intl.Collator('en', { numeric: true });
// ordered sorts a list by the column that the address names, or else by the first.
export function ordered(list, first, of) {
  const name = asked().get('sort') ?? first;
  const column = name.replace(/^-/, '');
  const by = (a, b) => collator.compare(of(a, column) ?? '', of(b, column) ?? '') || collator.compare(of(a, first), of(b, first));
  return list.toSorted(name === column ? by : (a, b) => by(b, a));
}

// breakable is a name with places where a line may end.
export const breakable = (name) => el('span', {}, name.split('_').flatMap((part, i) => (i ? ['_', el('wbr', {}), part] : [part])));

// whole keeps what has hyphens, such as an id, on one line where there is room for it.
const whole = (text) => (typeof text !== 'string' ? text : text.split(/([^\s,]*-[^\s,]*)/)
  .map((part, i) => (i % 2 ? el('span', { class: 'whole' }, part) : part)));

// terms makes a list of names and values, without those that are empty.
export const terms = (pairs) =>
  el('dl', {}, pairs.filter(([, value]) => value != null && value !== '' && value.length !== 0)
    .map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, [value].flat(Infinity).flatMap(whole)))));

// status shows a word in the colour of what it means.
const good = new Set(['active', 'running', 'normal', 'Active', 'Running', 'Available', 'passed', 'OK', 'live', 'Succeeded']);
const odd = new Set(['unavailable', 'skipped', 'stopped', 'Stopped', 'inactive', 'Inactive', 'waiting']);
export const badge = (word, mood) => word ? el('span', { class: 'badge', 'data-mood': mood ?? (good.has(word) ? 'good' : odd.has(word) || /ing$/.test(word) ? 'odd' : 'bad') }, atDots(word)) : '';
// atDots lets a line end within a code behind its dots, and nowhere else.
const atDots = (word) => String(word).split(/(?<=\.)/).flatMap((part, i) => (i ? [el('wbr'), part] : [part]));

// checked shows what health checks find, if there are any.
export const unchecked = (health) => /^not /.test(health);
export const checked = (health) => (unchecked(health) ? el('span', { class: 'quiet' }, t`not checked`) : badge(health));

// command shows what to type in a shell; local ones are about no emulator that runs.
export function command(text, local = false) {
  const usual = /^(127\.0\.0\.1|localhost):9601$/.test(location.host);
  const where = (usual ? '' : ` --server ${location.host}`) + (cloud === 'default' ? '' : ` --cloud ${cloud}`);
  const typed = local ? text : text + where;
  const copy = el('button', { type: 'button', title: t`Copy`, onclick: async () => {
    await navigator.clipboard?.writeText(typed);
    copy.textContent = t`copied`;
  } }, t`copy`);
  return el('span', { class: 'command' }, el('code', {}, typed), copy);
}

// inCluster shows how a scenario is played with a controller in a cluster, which needs the
// emulator that the controller calls.
export const inCluster = (name) => command(`clbemu scenario run ${name} --part kubernetes --server ${location.host}${cloud === 'default' ? '' : ` --cloud ${cloud}`} --kubeconfig ~/.kube/config`, true);

// quoted is a value as a shell takes it.
export const quoted = (value) => (/^[\w.,:/@%+=-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);

// say shows an error, or the outcome of a request.
export function say(text, mood = 'bad') {
  const said = $('#said');
  said.dataset.mood = mood;
  fill(said, text, ' ', el('button', { type: 'button', onclick: () => { said.hidden = true; } }, t`Close`));
  ($('#states[open], .create[open]') ?? document.body).append(said); // an open dialog covers all else
  said.hidden = false;
}

// attempt does something that may be refused, and says why.
export async function attempt(what, done) {
  try {
    const result = await what();
    if (done) say(done, 'good');
    else if (!$('dialog #said')) $('#said').hidden = true; // what a dialog says is not the page's
    return result;
  } catch (problem) {
    say(problem.message);
    return undefined;
  }
}

// sure asks whether something is really to be done, by a button that says what it does.
export function sure(title, text, does) {
  const dialog = el('dialog', { class: 'sure', 'aria-labelledby': 'asked' }, el('h2', { id: 'asked' }, title), el('p', {}, text),
    el('form', { method: 'dialog', class: 'line' }, el('button', { value: 'yes', class: 'primary' }, does), el('button', { value: 'no', autofocus: true }, t`Cancel`)));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((answered) => dialog.addEventListener('close', () => {
    dialog.remove();
    answered(dialog.returnValue === 'yes');
  }, { once: true }));
}

// soon does something once for many requests in a short time.
export function soon(what, pause = 150) {
  let timer;
  let busy = false;
  let again = false;
  const run = async () => {
    timer = undefined;
    if (busy) { again = true; return; }
    busy = true;
    await what();
    busy = false;
    if (again) { again = false; request(); }
  };
  const request = () => { timer ??= setTimeout(run, pause); };
  return request;
}

// loading shows that a page has nothing to show yet, though it is connected.
export const loading = (is) => { $('#loading').hidden = !is; };

// latest returns what loads and then draws. It drops an answer that comes after the answer
// to a later question.
export function latest(load, draw) {
  let asked = 0;
  return async () => {
    const mine = ++asked;
    const data = await load();
    if (mine !== asked) return;
    draw(data);
    loading(false);
  };
}

// pressed is the element on which a pointer is down: a click on an element that is replaced
// meanwhile is lost.
let pressed;
addEventListener('pointerdown', ({ target, button }) => { pressed = button === 0 ? target : undefined; }, true);
const release = () => setTimeout(() => { // after the click
  pressed = undefined;
  dispatchEvent(new Event('released'));
});
// A pointer that moves with no button down was released where the page did not learn it, as on a
// scrollbar.
addEventListener('pointermove', ({ buttons }) => { if (pressed && !buttons) release(); }, true);
// Where a press opens a menu, as with Ctrl on a Mac, the pointer's end may not come.
for (const end of ['pointerup', 'pointercancel', 'contextmenu']) addEventListener(end, release, true);

// held reports whether a pointer is down within an element, which must then stay as it is:
// redraws is called when the pointer is up.
const waiting = new WeakMap();
export function held(element, redraws) {
  waiting.delete(element);
  if (!pressed || !element.contains(pressed)) return false;
  waiting.set(element, redraws);
  addEventListener('released', () => waiting.get(element)?.(), { once: true });
  return true;
}

// opened reports whether a list of options is open, where the browser can tell.
const opened = (element) => CSS.supports('selector(:open)') && element.matches('select:open');

// redraw makes what an element holds of data, if that is other than before. What
// the user is typing in, clicks on or chooses from stays until it is left, and the focus where it was.
const drawn = new WeakMap();
let look; // at the list of options that is open, again
export function redraw(element, data, make, besides = '') {
  const text = JSON.stringify(data) + besides;
  const later = () => redraw(element, data, make, besides);
  if (drawn.get(element) === text) {
    waiting.delete(element);
    return;
  }
  if (held(element, later)) return;
  const active = element.contains(document.activeElement) ? document.activeElement : undefined;
  if (active && opened(active)) {
    waiting.set(element, later);
    clearTimeout(look);
    look = setTimeout(() => waiting.get(element)?.(), 200); // nothing says that it closes without a choice
    return;
  }
  if (active?.matches('input') && active.value !== active.defaultValue) {
    waiting.set(element, later);
    active.addEventListener('blur', () => setTimeout(() => waiting.get(element)?.()), { once: true });
    return;
  }
  // What is about to be written over is so in the field that comes in its place.
  const selected = active?.matches('input') && active.selectionStart === 0 && active.selectionEnd === active.value.length;
  drawn.set(element, text);
  fill(element, make(data));
  if (active?.isConnected && document.activeElement !== active) active.focus(); // it was moved
  const again = active?.dataset.focus && $(`[data-focus="${CSS.escape(active.dataset.focus)}"]`, element);
  if (again) again.focus();
  if (again && selected) again.select();
}

// The address says what is shown: show is called with its query at first and whenever it
// changes.
let shown = () => {};
export const asked = () => new URLSearchParams(location.search);
export function go(change, replace = false) {
  const query = asked();
  for (const [name, value] of Object.entries(change)) value ? query.set(name, value) : query.delete(name);
  const text = query.toString();
  history[replace ? 'replaceState' : 'pushState'](null, '', text ? `?${text}` : location.pathname);
  shown(query);
}
// to is an address on this page with something else shown.
export function to(change) {
  const query = asked();
  for (const [name, value] of Object.entries(change)) value ? query.set(name, value) : query.delete(name);
  return `?${query}`;
}
export function addressed(show) {
  shown = show;
  addEventListener('popstate', () => show(asked()));
  document.addEventListener('click', (event) => {
    // A row is a link, but for what else it has to click, and when its text is selected.
    const other = event.target.closest('a, button, input, select, label, summary') || !getSelection().isCollapsed;
    const link = event.target.closest('a[href^="?"]') ?? (other ? null : event.target.closest('tr')?.querySelector('a.row'));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    history.pushState(null, '', link.getAttribute('href'));
    show(asked());
  });
  show(asked());
}

// Keys.
const keys = new Map();
// key lets a key do something on this page.
export function key(name, help, act) { keys.set(name, { help, act }); }

const rows = () => [...document.querySelectorAll('a.row')].filter((link) => link.offsetParent);
function step(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  const next = all[at < 0 ? all.findIndex((link) => link.hasAttribute('aria-current')) + (by > 0 ? 1 : 0) : at + by] ?? (at < 0 ? all[0] : undefined);
  next?.focus();
}

function commonKeys() {
  for (const link of document.querySelectorAll('nav a')) key(link.dataset.key, t`go to ${link.textContent}`, () => link.click());
  key('j', t`next row`, () => step(1));
  key('k', t`previous row`, () => step(-1));
  if ($('[type=search]')) key('/', t`search`, () => $('[type=search]').focus());
  key('Escape', t`close what is shown`, () => $('a.close')?.click());
  key('x', t`snapshots and reset`, showState);
  key('?', t`this list`, showKeys);
  document.addEventListener('keydown', (event) => {
    const writing = event.target.matches('input, textarea, select');
    if (writing && event.key === 'Escape') return event.target.blur();
    if (writing || event.ctrlKey || event.metaKey || event.altKey || $('dialog[open]')) return undefined;
    const known = keys.get(event.key);
    if (!known) return undefined;
    event.preventDefault();
    return known.act();
  });
}

function showKeys() {
  fill($('#help tbody'), [...keys].map(([name, { help }]) => el('tr', {}, el('td', {}, el('kbd', {}, name)), el('td', {}, help))),
    el('tr', {}, el('td', {}, el('kbd', {}, 'Enter')), el('td', {}, t`open the row`)));
  $('#help').showModal();
}

// The state: snapshots, and a reset.
async function showSnapshots() {
  const list = await get('/v1/snapshots').catch((problem) => say(problem.message)); // which leaves what is said
  const restore = async (name) => {
    if (await sure(t`Restore ${name}?`, t`It replaces the resources, the conditions and the emulated time. The journal stays.`, t`Restore`)) await attempt(() => call('POST', `${named('/v1/snapshots/', name)}/restore`), t`${name} is restored`);
  };
  const drop = async (name) => {
    if (await sure(t`Delete ${name}?`, t`The snapshot can not be brought back.`, t`Delete`)) await attempt(() => call('DELETE', named('/v1/snapshots/', name)));
    await showSnapshots();
  };
  fill($('#snapshots'), !list?.snapshots.length ? el('p', { class: 'quiet' }, t`There are no snapshots yet.`)
    : table('', [t`Snapshot`, t`Taken`, ''], list.snapshots.map(({ name, taken }) => [name, taken.slice(0, 19).replace('T', ' '),
      el('span', { class: 'line' }, el('button', { type: 'button', 'aria-label': t`Restore ${name}`, onclick: () => restore(name) }, t`Restore`), ' ', el('button', { type: 'button', 'aria-label': t`Delete the snapshot ${name}`, onclick: () => drop(name) }, t`Delete`))])));
}

function showState() {
  $('#said').hidden = true;
  $('#states').showModal();
  showSnapshots();
}

async function take(event) {
  event.preventDefault();
  const field = event.target.elements.name;
  if (await attempt(() => call('PUT', named('/v1/snapshots/', field.value)), t`${field.value} is taken`)) field.value = '';
  await showSnapshots();
}

async function wipe() {
  if (!(await sure(t`Reset everything?`, t`This deletes everything that clients created, resets the conditions and the emulated time, and plants the world again. Snapshots and the journal stay.`, t`Reset`))) return;
  await attempt(() => call('POST', '/v1/state/reset', { query: { faults: $('#wipe-faults').checked ? 'true' : '' } }), t`The world is as at the beginning`);
}

// The token.
function ask(again) {
  const dialog = $('#login');
  $('#login-problem').textContent = again ? t`Wrong token.` : '';
  token.forget();
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  if (!dialog.open) dialog.showModal();
  return new Promise((given) => {
    $('form', dialog).addEventListener('submit', (event) => {
      event.preventDefault();
      token.set($('#token').value);
      $('#token').value = '';
      dialog.close();
      $('#leave').hidden = false;
      given();
    }, { once: true });
  });
}

// The connection.
const words = { live: t`live`, lost: t`connection lost, trying again`, waiting: t`connecting` };
export function connection(state) {
  const live = $('#live');
  if (live.dataset.state === state) return;
  live.dataset.state = state;
  live.textContent = words[state];
}

// onNews calls back at first and soon after anything is in the journal, which is after
// every call and every change.
export function onNews(refresh, pause = 100) {
  const request = soon(() => refresh().catch((problem) => say(problem.message)), pause);
  follow('/v1/journal/stream', { limit: 1 }, { begin: request, event: request, state: connection, refused: (problem) => say(problem.message) });
}

// replicas says who leads, where several emulators share the state.
function replicas(all) {
  if (!all) return '';
  if (!all.leader) return t`no replica leads`;
  const lag = all.leads ? '' : t`, ${Math.round(all.lagSeconds * 1000)} ms behind at most`;
  const does = all.leads ? t` leads` : t` follows ${all.leader}${lag}`;
  return t`${all.self} of ${all.all.length} replicas${does} (term ${all.term})`;
}

// drawUnusual names in the head of each page what makes calls fail that would not in a new
// emulator.
function drawUnusual({ unusual = [], faultRules = [] }) {
  const note = (page, text, names) => names.length > 0 && el('a', { class: 'badge', 'data-mood': 'odd', href: page, title: names.join(', ') }, text);
  fill($('#unusual'), note('conditions', unusual.includes('account.arrears') ? t`in arrears` : t`${unusual.length} unusual conditions`, unusual), ' ',
    note('faults', t`${faultRules.length} fault rules`, faultRules));
}

// begin is called by each page. It returns what the server says about itself.
export function begin() {
  onTokenWanted(ask);
  const here = [...document.querySelectorAll('nav a')].find((a) => a.pathname === location.pathname);
  here?.setAttribute('aria-current', 'page');
  here?.parentElement.scrollTo({ left: here.offsetLeft - here.parentElement.offsetLeft }); // a telephone's has one line
  if (cloud !== 'default') fill($('#cloud'), t`cloud ${cloud}`);
  $('#language').addEventListener('click', ({ currentTarget }) => switchLanguage(currentTarget.value));
  $('#keys').addEventListener('click', showKeys);
  $('#state').addEventListener('click', showState);
  $('#take').addEventListener('submit', take);
  $('#wipe').addEventListener('click', wipe);
  $('#leave').hidden = !token.get();
  $('#leave').addEventListener('click', () => { token.forget(); location.reload(); });
  commonKeys();
  const described = get('/v1/server');
  described.then((server) => {
    $('#server').title = [server.api && `API ${server.api}`, server.auth === 'off' && t`accepts unsigned calls`, replicas(server.replicas), server.version.version].filter(Boolean).join(' · ');
    fill($('#server'), $('#server').title);
    drawUnusual(server);
  }, (problem) => say(problem.message));
  return described;
}
