// The clouds of the emulator; forking, resetting and deleting them.

import { call, cloud, get, named } from './api.js';
import { $, addressed, attempt, begin, command, el, key, latest, onNews, redraw, sure, table } from './page.js';
import { t } from './words.js';

const time = (text) => (text ? text.slice(0, 19).replace('T', ' ') : '');

const refresh = latest(() => get('/v1/clouds'), ({ clouds }) => {
  $('#count').textContent = String(clouds.length);
  redraw($('#fork select'), clouds.filter((c) => !c.problem).map((c) => c.name), (names) => names.map((value) => el('option', { value, selected: value === cloud }, value)));
  redraw($('#clouds'), clouds, () => [table('', [t`Cloud`, t`Forked from`, t`Expires`, t`Kept`, t`Resources`, t`Calls`, 'API', ''], clouds.map(row)),
    el('p', {}, command(`clbemu env --cloud ${clouds.findLast((c) => !c.problem).name}`))]);
});

const row = (c) => [
  el('th', { scope: 'row' }, c.problem ? c.name : el('a', { href: c.name === 'default' ? '/' : `/clouds/${c.name}/`, 'aria-current': c.name === cloud && 'true' }, c.name)),
  c.from ?? '', c.created ? time(c.expires) || t`never` : '', c.durable ? t`durable` : t`in memory`, String(c.resources), String(c.calls),
  c.problem ?? c.api ?? '',
  c.created || c.problem ? el('span', { class: 'line' },
    c.created && [el('button', { type: 'button', 'aria-label': t`Reset ${c.name}`, onclick: () => reset(c) }, t`Reset`), ' '],
    el('button', { type: 'button', 'aria-label': t`Delete ${c.name}`, onclick: () => remove(c) }, t`Delete`)) : '',
];

async function reset({ name, from }) {
  if (!(await sure(t`Reset ${name}?`, t`It becomes what ${from} is now. Its journal goes too.`, t`Reset`))) return;
  await attempt(() => call('POST', `${named('/v1/clouds/', name)}/reset`), t`${name} is as ${from} now`);
  await refresh(); // which leaves what was said
}

async function remove({ name }) {
  if (!(await sure(t`Delete ${name}?`, t`The cloud and all that it has can not be brought back.`, t`Delete`))) return;
  await attempt(() => call('DELETE', named('/v1/clouds/', name)));
  await refresh(); // which leaves what was said
}

async function fork(event) {
  event.preventDefault();
  const { name, from, expires, port, durable } = event.target.elements;
  try {
    await call('PUT', named('/v1/clouds/', name.value), { body: { from: from.value, expires: expires.value, port: port.checked, durable: durable.checked } });
    $('#problem').textContent = '';
    name.value = '';
    await refresh();
  } catch (problem) {
    $('#problem').textContent = problem.message;
  }
}

// A cloud of replicas has no port: another may lead next, at another address.
begin().then((server) => { $('#port').hidden = Boolean(server.replicas); }, () => {});
$('#fork').addEventListener('submit', fork);
key('a', t`fork a cloud`, () => $('#fork input').focus());
addressed(() => attempt(refresh));
onNews(refresh);
