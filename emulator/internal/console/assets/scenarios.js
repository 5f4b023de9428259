// The library of scenarios: playing one on this emulator, and watching its steps.

import { call, follow, get, named } from './api.js';
import { $, addressed, asked, attempt, badge, begin, command, connection, el, fill, go, key, say, soon, table, to } from './page.js';

let library = [];
let results = []; // of earlier plays, the newest last
let play; // what is being played, or was last: {scenario, steps, result}

const lastOf = (name) => results.findLast((r) => r.scenario === name);

function drawList() {
  const wanted = (asked().get('q') ?? '').toLowerCase();
  const chosen = library.filter((s) => `${s.name} ${s.about}`.toLowerCase().includes(wanted));
  $('#count').textContent = chosen.length === library.length ? String(library.length) : `${chosen.length} of ${library.length}`;
  const focused = document.activeElement?.closest('#library tr')?.dataset.name;
  fill($('#library tbody'), chosen.map((s) => {
    const current = s.name === asked().get('name');
    const playing = play && !play.result && play.scenario === s.name;
    return el('tr', { 'data-name': s.name, class: current && 'current' },
      el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ name: s.name }), 'aria-current': current && 'true' }, s.name)),
      el('td', {}, s.about), el('td', {}, playing ? badge('running') : badge(lastOf(s.name)?.status)));
  }));
  if (focused) $(`tr[data-name="${CSS.escape(focused)}"] a`)?.focus();
}

const playable = (s) => s.halves.includes('client');

function drawDetail(text) {
  const detail = $('#detail');
  const s = library.find((one) => one.name === asked().get('name'));
  if (!s) {
    fill(detail, el('div', { class: 'empty' }, el('h2', {}, 'Choose a scenario'), el('p', {}, 'Or run the whole library, each scenario on its own emulator:'), command('clbemu scenario run', true),
      el('p', {}, 'Or test your program on its own emulator:'), command('clbemu scenario watch reply-lost-after-create -- go test ./...', true)));
    return;
  }
  fill(detail, el('div', { class: 'bar' }, el('h2', {}, s.name), el('span', { class: 'quiet' }, `halves: ${s.halves.join(', ')}`), el('a', { class: 'close', href: to({ name: '' }) }, 'Close')),
    el('p', {}, s.about),
    playable(s) ? el('p', { class: 'line' }, el('button', { type: 'button', id: 'play', class: 'primary', onclick: () => start(s.name) }, 'Run'), el('button', { type: 'button', id: 'stop', onclick: stop }, 'Stop'),
      el('label', {}, el('input', { type: 'checkbox', id: 'fresh' }), ' delete everything first'))
      : el('p', { class: 'quiet' }, 'It has no client half.'),
    playable(s) && el('p', { class: 'quiet' }, 'It runs on this emulator and changes it: resources that it creates stay.'),
    el('div', { id: 'steps', 'aria-live': 'polite' }),
    el('h3', {}, 'On its own emulator'), command(`clbemu scenario run ${s.name}`, true),
    s.halves.includes('program') && el('h3', {}, 'With your program'), s.halves.includes('program') && command(`clbemu scenario watch ${s.name} -- go test ./...`, true),
    s.halves.includes('kubernetes') && el('h3', {}, 'With a controller in a cluster'), s.halves.includes('kubernetes') && command(`clbemu scenario run ${s.name} --kubeconfig ~/.kube/config`),
    el('h3', {}, 'Its text'), el('ol', { class: 'text' }, text.trimEnd().split('\n').map((line) => el('li', {}, line))));
  drawSteps();
}

function drawSteps() {
  const name = asked().get('name');
  const busy = Boolean(play && !play.result);
  if ($('#play')) {
    $('#play').disabled = busy;
    $('#stop').disabled = !busy;
  }
  const steps = $('#steps');
  if (!steps) return;
  const lines = [...document.querySelectorAll('.text li')];
  for (const line of lines) delete line.dataset.passed;
  if (play?.scenario !== name) {
    fill(steps, busy && el('p', { class: 'quiet' }, el('a', { href: to({ name: play.scenario }) }, play.scenario), ' is being played.'));
    return;
  }
  for (const s of play.steps) if (lines[s.line - 1]) lines[s.line - 1].dataset.passed = s.passed;
  fill(steps, el('h3', {}, 'Steps'),
    table('', ['', 'Line', 'Step'], play.steps.map((s) => [badge(s.passed ? 'ok' : 'failed', s.passed ? 'good' : 'bad'), el('td', { class: 'number' }, String(s.line)), s.title])),
    busy ? el('p', {}, badge('running'), ` ${play.steps.length} steps done`) : outcome(play.result));
}

function outcome(r) {
  const f = r.failure;
  const part = (title, content) => content && el('div', {}, el('dt', {}, title), el('dd', {}, content));
  return el('div', { class: 'outcome' }, el('p', {}, badge(r.status), ` in ${r.seconds.toFixed(2)} s`),
    f && el('dl', {}, part('Where', `${f.file}:${f.line}: ${f.step}`), part('Reason', f.reason),
      f.unmet?.map((u) => [part(`Expected at line ${u.line}`, u.expected), part('Seen', u.seen)]).flat(), part('Hint', f.hint), part('To do', f.advice),
      f.faults?.map((h) => part('Fault', `${h.name} changed ${h.hits} of ${h.seen} matching calls`))),
    r.notes?.map((note) => el('p', {}, note)), el('p', {}, el('a', { href: 'journal' }, 'Its calls')));
}

// sure asks before everything is deleted.
const sure = () => new Promise((answered) => {
  const dialog = $('#sure');
  dialog.returnValue = 'no';
  dialog.addEventListener('close', () => answered(dialog.returnValue === 'yes'), { once: true });
  dialog.showModal();
});

async function start(name) {
  const fresh = $('#fresh').checked;
  if (fresh && !(await sure())) return;
  await attempt(async () => {
    if (fresh) await call('POST', '/v1/state/reset');
    await call('POST', '/v1/scenarios/start', { query: { name } });
  });
}

const stop = () => attempt(() => call('POST', '/v1/scenarios/stop'));

const redraw = soon(async () => {
  drawList();
  drawSteps();
}, 30);

function heard({ data: { event, scenario, step, result } }) {
  if (event === 'begun') play = { scenario, steps: [] };
  else if (event === 'step') play.steps.push(step);
  else {
    play.result = result;
    if (!results.some((r) => JSON.stringify(r) === JSON.stringify(result))) results.push(result);
  }
  redraw();
}

let texts = '';
async function show(query) {
  if ($('#search') !== document.activeElement) $('#search').value = query.get('q') ?? '';
  drawList();
  const name = query.get('name');
  if (name === texts) return;
  const text = name && library.some((s) => s.name === name) ? await get(named('/v1/scenarios/library/', name)) : '';
  if (asked().get('name') !== name) return;
  texts = name;
  if (name && !text) say(`There is no scenario ${name}.`);
  drawDetail(text);
}

begin();
$('form[role=search]').addEventListener('submit', (event) => event.preventDefault());
$('#search').addEventListener('input', (event) => go({ q: event.target.value }, true));
key('p', 'play what is shown', () => $('#play:enabled')?.click());
key('s', 'stop what is played', () => $('#stop:enabled')?.click());
attempt(async () => {
  const [known, status] = await Promise.all([get('/v1/scenarios/library'), get('/v1/scenarios')]);
  library = known.scenarios;
  results = status.results;
  addressed((query) => { attempt(() => show(query)); });
  follow('/v1/scenarios/stream', {}, { event: heard, state: connection, refused: (problem) => say(problem.message) });
});
