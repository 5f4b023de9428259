// Fault rules with how often they struck; adding them from templates, and removing them.

import { call, get, named } from './api.js';
import { $, addressed, asked, attempt, badge, begin, command, el, fill, key, latest, onNews, to } from './page.js';
import { t, translated } from './words.js';
import { templates } from './templates.js';

let drawn = '';

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

const refresh = latest(() => get('/v1/faults'), ({ faults }) => {
  const chosen = asked().get('rule');
  const text = JSON.stringify([faults, chosen]);
  if (text === drawn || editing) return;
  drawn = text;
  $('#count').textContent = String(faults.length);
  $('#none').hidden = faults.length > 0;
  for (const button of ['#reset', '#clear']) $(button).disabled = faults.length === 0;
  const focused = document.activeElement?.closest('article')?.dataset.rule;
  fill($('#rules'), faults.map((f) => rule(f, f.name === chosen)));
  if (focused) $(`article[data-rule="${CSS.escape(focused)}"] button`)?.focus();
});

// switched is the text of a rule that is switched on or off.
const switched = (f) => `${f.rule.replace(/^disabled: true\n/m, '')}disabled: ${!f.disabled}\n`;

// edit changes a rule where it is; one that gets another name replaces the old one.
let editing = false;
function edit(f, article) {
  editing = true;
  const field = el('textarea', { rows: f.rule.trim().split('\n').length + 2, spellcheck: 'false', 'aria-label': t`The rule, in YAML` });
  field.value = f.rule;
  const wrong = el('p', { class: 'problem', role: 'alert' });
  const leave = () => {
    editing = false;
    drawn = '';
    return attempt(refresh);
  };
  const save = async () => {
    try {
      await call('POST', '/v1/faults', { body: field.value });
      const [, name] = /(?:^|[{,]\s*)name:\s*['"]?([\w.-]+)/m.exec(field.value);
      if (name !== f.name) await call('DELETE', named('/v1/faults/', f.name));
      await leave();
    } catch (problem) {
      wrong.textContent = problem.message;
    }
  };
  $('pre', article).replaceWith(field, wrong, el('p', { class: 'line' }, el('button', { type: 'button', class: 'primary save', onclick: save }, t`Save`), el('button', { type: 'button', onclick: leave }, t`Cancel`)));
  field.focus();
}

const rule = (f, chosen) => el('article', { class: chosen ? 'card current' : 'card', 'data-rule': f.name },
  el('div', { class: 'bar' }, el('h2', {}, el('a', { class: 'row', href: to({ rule: f.name }) }, f.name)), badge(f.at, 'odd'),
    el('span', { class: 'hits' }, t`changed ${f.hits} of ${f.seen} matching calls`), f.spent && badge(t`spent`, 'odd'), f.disabled && badge(t`off`, 'odd'),
    el('a', { href: `journal?fault=${encodeURIComponent(f.name)}` }, t`calls`),
    el('span', { class: 'bar push' },
      el('button', { type: 'button', class: 'switch', 'aria-label': f.disabled ? t`Switch ${f.name} on` : t`Switch ${f.name} off`, onclick: () => change('POST', '/v1/faults', switched(f)) }, f.disabled ? t`Switch on` : t`Switch off`),
      el('button', { type: 'button', class: 'edit', 'aria-label': t`Edit ${f.name}`, onclick: ({ target }) => edit(f, target.closest('article')) }, t`Edit`),
      el('button', { type: 'button', class: 'remove', 'aria-label': t`Remove ${f.name}`, onclick: () => change('DELETE', named('/v1/faults/', f.name)) }, t`Remove`))),
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
  drawn = '';
  attempt(refresh);
});
onNews(refresh);
