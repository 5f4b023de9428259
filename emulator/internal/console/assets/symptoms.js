// What operators see, with its causes and cures, each played by a scenario.

import { call, follow, get } from './api.js';
import { $, addressed, asked, attempt, begin, command, connection, el, fill, inCluster, loading, redraw, say, to } from './page.js';
import { scenario as texts, t, translated } from './words.js';

$('#share').textContent = $('#share').dataset.share;

let symptoms = [];
let library = new Map();
let busy = false; // a scenario is being played
let about = null; // the answer to the text of the box

function drawList() {
  fill($('#symptoms tbody'), symptoms.map((s) => {
    const current = s.name === asked().get('name');
    return el('tr', { class: current && 'current' },
      el('th', { scope: 'row' }, el('a', { class: 'row', href: to({ name: s.name }), 'aria-current': current && 'true' }, translated(s.title))),
      el('td', { class: 'number', 'data-title': t`Causes` }, String(s.causes.length)));
  }));
}

function cause({ about: said, scenario: name, cure }) {
  const s = library.get(name) ?? { parts: [] };
  return el('article', { class: 'card' }, el('h3', {}, said ? translated(said) : texts(name).about ?? s.about),
    el('dl', {}, el('div', {}, el('dt', {}, t`Cure`), el('dd', {}, translated(cure))),
      name && el('div', {}, el('dt', {}, t`Scenario`), el('dd', {}, el('a', { href: `scenarios?name=${name}` }, name)))),
    s.parts.includes('client') && el('p', {}, el('button', { type: 'button', class: 'primary', disabled: busy, onclick: () => play(name), 'aria-label': t`Run ${name}` }, t`Run`)),
    s.parts.includes('kubernetes') && inCluster(name));
}

// drawAnswer shows what the text of the box is about.
function drawAnswer() {
  const played = about.causes.length ? [] : about.scenarios;
  redraw($('#detail'), [about, busy], () => [el('div', { class: 'bar' }, el('h2', {}, translated(about.title)), el('button', { type: 'button', class: 'close', onclick: () => { about = null; drawDetail(); } }, t`Close`)),
    about.guess && el('p', { class: 'quiet' }, t`A guess by the name of the code, as nothing more is known of it.`),
    about.happened !== about.title && el('p', {}, translated(about.happened)),
    about.causes.length ? about.causes.map(cause) : el('ol', {}, about.cures.map((c) => el('li', {}, translated(c)))),
    played.length > 0 && el('p', {}, t`Scenario`, ': ', played.flatMap((name) => [el('a', { href: `scenarios?name=${name}` }, name), ' ']))]);
}

function drawDetail() {
  if (about) return drawAnswer();
  const name = asked().get('name');
  const s = symptoms.find((one) => one.name === name);
  if (name && !s) say(t`There is no symptom ${name}.`);
  if (!s) {
    redraw($('#detail'), [], () => el('div', { class: 'empty' }, el('h2', {}, t`Choose a symptom`), el('p', {}, t`Or explain an Event of a Service, or any other text, in a terminal`), command('clbemu explain pending', true)));
    return;
  }
  redraw($('#detail'), [name, busy], () => [el('div', { class: 'bar' }, el('h2', {}, translated(s.title)), el('a', { class: 'close', href: to({ name: '' }) }, t`Close`)),
    el('p', { class: 'quiet' }, t`A scenario runs on an emulator of its own, in memory: nothing here changes.`), s.causes.map(cause)]);
}

// play starts a scenario, and shows it where its steps are.
const play = (name) => attempt(async () => {
  await call('POST', '/v1/scenarios/start', { query: { name, apart: true } });
  location.assign(`scenarios?name=${name}`);
});

$('#ask').addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(async () => {
    const found = await get('/v1/scenarios/library', { text: $('#text').value });
    about = found.about ?? { title: t`Nothing known matches the text.`, happened: t`Paste the whole Event, with its message, or say what you see in other words.`, cures: [], causes: [], scenarios: [] };
    drawDetail();
  });
});

begin();
attempt(async () => {
  const known = await get('/v1/scenarios/library');
  symptoms = known.symptoms;
  library = new Map(known.scenarios.map((s) => [s.name, s]));
  addressed(() => {
    about = null;
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
