// Fault rules with how often they struck; adding them from templates, and removing them.

import { call, get, named } from './api.js';
import { $, addressed, asked, attempt, badge, begin, command, el, fill, key, latest, onNews, redraw, to } from './page.js';
import { t, translated } from './words.js';
import { templates } from './templates.js';

const ruleName = (word, action) => `${word}-${action.replace(/[^A-Za-z0-9]+/g, '').toLowerCase().slice(0, 40) || 'any'}`;
// quoted is a text as YAML takes it, a glob too.
const quoted = (text) => (/^[A-Za-z0-9]+$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`);
// written is the rule of a template for an action; one about packets has none.
const written = ({ id, kind, value, when }, action) => `name: ${action ? ruleName(id, action) : id}
${action ? `match:
  action: ${quoted(action)}
` : ''}${when ? `when: ${when}\n` : ''}effect:
  ${kind}: ${value}
`;

const edited = new Map(); // articles of rules that are being edited, by name: they stay
let edits = 0; // that have ended, after which a rule is drawn again
const refresh = latest(() => get('/v1/faults'), ({ faults }) => {
  $('#count').textContent = String(faults.length);
  $('#none').hidden = faults.length > 0;
  for (const button of ['#reset', '#clear']) $(button).disabled = faults.length === 0;
  redraw($('#rules'), [faults, location.search], () => {
    const deleted = [...edited.keys()].filter((name) => !faults.some((f) => f.name === name));
    return [...faults.map((f) => edited.get(f.name) ?? rule(f)), ...deleted.map((name) => edited.get(name))];
  }, String(edits));
});

// switched is the text of a rule that is switched on or off.
const switched = (f) => `${f.rule.replace(/^disabled: true\n/m, '')}disabled: ${!f.disabled}\n`;

// edit changes a rule where it is; one that gets another name replaces the old one.
function edit(f, article) {
  edited.set(f.name, article);
  $('.push', article).hidden = true;
  const field = el('textarea', { rows: f.rule.trim().split('\n').length + 2, spellcheck: 'false', 'aria-label': t`The rule, in YAML` });
  field.value = f.rule;
  const wrong = el('p', { class: 'problem', role: 'alert' });
  const leave = () => {
    edited.delete(f.name);
    edits++;
    return attempt(refresh);
  };
  const save = async () => {
    try {
      const name = /(?:^|[{,]\s*)['"]?name['"]?:\s*['"]?([\w.-]+)/m.exec(field.value)?.[1] ?? f.name;
      const { faults } = await call('POST', '/v1/faults', { body: field.value });
      if (name !== f.name && faults.some((one) => one.name === f.name)) await call('DELETE', named('/v1/faults/', f.name));
      await leave();
    } catch (problem) {
      wrong.textContent = problem.message;
    }
  };
  $('pre', article).replaceWith(field, wrong, el('p', { class: 'line' }, el('button', { type: 'button', class: 'primary save', 'data-focus': `edit ${f.name}`, onclick: save }, t`Save`), el('button', { type: 'button', class: 'cancel', 'data-focus': `edit ${f.name}`, onclick: leave }, t`Cancel`)));
  field.focus();
}

const rule = (f) => el('article', { class: f.name === asked().get('rule') ? 'card current' : 'card', 'data-rule': f.name },
  el('div', { class: 'bar' }, el('h2', {}, el('a', { class: 'row', href: to({ rule: f.name }), 'data-focus': f.name }, f.name)), badge(f.at, 'odd'),
    el('span', { class: 'hits' }, t`changed ${f.hits} of ${f.seen} matching calls`), f.spent && badge(t`spent`, 'odd'), f.disabled && badge(t`off`, 'odd'),
    el('a', { href: `journal?fault=${encodeURIComponent(f.name)}` }, t`calls`),
    el('span', { class: 'bar push' },
      el('button', { type: 'button', class: 'switch', 'data-focus': `switch ${f.name}`, 'aria-label': f.disabled ? t`Switch ${f.name} on` : t`Switch ${f.name} off`, onclick: () => change('POST', '/v1/faults', switched(f)) }, f.disabled ? t`Switch on` : t`Switch off`),
      el('button', { type: 'button', class: 'edit', 'data-focus': `edit ${f.name}`, 'aria-label': t`Edit ${f.name}`, onclick: ({ target }) => edit(f, target.closest('article')) }, t`Edit`),
      el('button', { type: 'button', class: 'remove', 'data-focus': `remove ${f.name}`, 'aria-label': t`Remove ${f.name}`, onclick: () => change('DELETE', named('/v1/faults/', f.name)) }, t`Remove`))),
  el('pre', {}, f.rule.trim()));

async function change(method, path, body) {
  await attempt(() => call(method, path, { body }));
  await refresh(); // which leaves what was said
}

// The rule that is written.
function fromTemplate(keepAction) {
  const template = templates.find((one) => one.id === $('#template').value);
  if (!keepAction || !template.action) $('#action').value = template.action ?? '';
  $('#action').disabled = !template.action;
  $('#about').textContent = translated(template.about);
  $('#rule').value = written(template, template.action && ($('#action').value || '*'));
  $('#problem').textContent = '';
}

async function add(event) {
  event.preventDefault();
  try {
    const { faults } = await call('POST', '/v1/faults', { body: $('#rule').value });
    $('#problem').textContent = '';
    history.replaceState(null, '', to({ rule: faults.at(-1).name, action: '' }));
    await refresh();
  } catch (problem) {
    $('#problem').textContent = problem.message;
  }
}

begin();
fill($('#template'), templates.map(({ id, title }) => el('option', { value: id }, translated(title))));
$('#template').addEventListener('change', () => fromTemplate(false));
$('#action').addEventListener('input', () => fromTemplate(true));
$('#add').addEventListener('submit', add);
$('#reset').addEventListener('click', () => change('POST', '/v1/faults/reset'));
$('#clear').addEventListener('click', () => change('DELETE', '/v1/faults'));
key('a', t`write a rule`, () => $('#rule').focus());
fill($('#none'), el('h2', {}, t`There are no fault rules`), el('p', {}, t`Add a rule from a template, or from a file:`), command('clbemu fault add faults.yaml'),
  el('p', {}, t`Scenarios add the rules that they need, and test how a client handles them:`), command('clbemu scenario list', true));
get('/v1/actions').then((actions) => {
  fill($('#actions'), [...new Set(actions.filter((a) => a.emulated).map((a) => a.action))].map((value) => el('option', { value })));
}, () => {});
addressed((query) => {
  if (query.get('template')) $('#template').value = query.get('template');
  const action = query.get('action');
  if (action) $('#action').value = action;
  fromTemplate(Boolean(action));
  attempt(refresh);
});
onNews(refresh);
