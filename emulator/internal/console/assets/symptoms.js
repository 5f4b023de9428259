// What operators see, with its causes and cures, each played by a scenario.

import { call, follow, get } from './api.js';
import { $, addressed, asked, attempt, begin, command, connection, el, fill, inCluster, loading, say, to } from './page.js';
import { scenario as texts, t, translated } from './words.js';

let symptoms = [];
let library = new Map();
let busy = false; // a scenario is being played

function drawList() {
  fill($('#symptoms tbody'), symptoms.map((s) => {
    const current = s.name === asked().get('name');
    return el('tr', { class: current && 'current' },
      el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ name: s.name }), 'aria-current': current && 'true' }, translated(s.title))),
      el('td', { class: 'number', 'data-title': t`Causes` }, String(s.causes.length)));
  }));
}

function cause({ scenario: name, cure }) {
  const s = library.get(name);
  return el('article', { class: 'card' }, el('h3', {}, texts(name).about ?? s.about),
    el('dl', {}, el('div', {}, el('dt', {}, t`Cure`), el('dd', {}, translated(cure))),
      el('div', {}, el('dt', {}, t`Scenario`), el('dd', {}, el('a', { href: `scenarios?name=${name}` }, name)))),
    s.halves.includes('client') && el('p', {}, el('button', { type: 'button', class: 'primary', disabled: busy, onclick: () => play(name), 'aria-label': t`Run ${name}` }, t`Run`)),
    s.halves.includes('kubernetes') && inCluster(name));
}

function drawDetail() {
  const name = asked().get('name');
  const s = symptoms.find((one) => one.name === name);
  if (name && !s) say(t`There is no symptom ${name}.`);
  if (!s) {
    fill($('#detail'), el('div', { class: 'empty' }, el('h2', {}, t`Choose a symptom`), el('p', {}, t`Or explain an Event of a Service, or any other text, in a terminal`), command('clbemu explain pending', true)));
    return;
  }
  fill($('#detail'), el('div', { class: 'bar' }, el('h2', {}, translated(s.title)), el('a', { class: 'close', href: to({ name: '' }) }, t`Close`)),
    el('p', { class: 'quiet' }, t`A scenario runs on an emulator of its own, in memory: nothing here changes.`), s.causes.map(cause));
}

// play starts a scenario, and shows it where its steps are.
const play = (name) => attempt(async () => {
  await call('POST', '/v1/scenarios/start', { query: { name, apart: true } });
  location.assign(`scenarios?name=${name}`);
});

begin();
attempt(async () => {
  const known = await get('/v1/scenarios/library');
  symptoms = known.symptoms;
  library = new Map(known.scenarios.map((s) => [s.name, s]));
  addressed(() => {
    drawList();
    drawDetail();
  });
  loading(false);
  follow('/v1/scenarios/stream', {}, { event: ({ data: { result } }) => {
    if (busy === !result) return;
    busy = !result;
    drawDetail();
  }, state: connection, refused: (problem) => say(problem.message) });
});
