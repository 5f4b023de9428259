// Forms for what can be created here, as in the cloud's own console. Each makes a call of the
// cloud's API, like the other deeds.

import { get } from './api.js';
import { act } from './deeds.js';
import { $, attempt, el, fill } from './page.js';
import { t } from './words.js';

const text = (name, attributes) => el('input', { name, autocomplete: 'off', ...attributes });
const choice = (name, options, attributes) => el('select', { name, ...attributes }, options.map(([value, label = value]) => el('option', { value }, label)));

// ask shows a form of labels and fields, and closes it when send returns something.
function ask(title, fields, does, send) {
  const form = el('form', {}, fields.map(([label, field]) => el('p', {}, el('label', {}, `${label} `, field))),
    el('p', { class: 'line' }, el('button', { class: 'primary' }, does), el('button', { type: 'button', onclick: () => dialog.close() }, t`Cancel`)));
  const dialog = el('dialog', { class: 'create', 'aria-labelledby': 'creates' }, el('h2', { id: 'creates' }, title), form);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const values = Object.fromEntries([...form.elements].filter((f) => f.name && !f.disabled && f.checkVisibility()).map((f) => [f.name, f.multiple ? [...f.selectedOptions].map((o) => o.value) : f.value]));
    if (await send(values)) dialog.close();
  });
  dialog.addEventListener('close', () => {
    const said = $('#said', dialog);
    if (said) {
      said.hidden = true; // an error of the form, which is over
      document.body.append(said);
    }
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  return form.elements;
}

// only shows a field with its label where it is of use.
const only = (field, is) => { field.closest('p').hidden = !is; };

// listed gets the resources of some kinds.
const listed = async (kind, within = {}) => (await get('/v1/resources', { kind, account: within.account, region: within.region })).resources;
const called = (r) => [r.id, r.name ? `${r.name} (${r.id})` : r.id];

export const createBalancer = (done) => attempt(async () => {
  const vSwitches = await listed('vswitch');
  const zones = await listed('zone');
  const regions = [...new Set([...vSwitches, ...zones].map((r) => r.region))];
  const fields = ask(t`Create a load balancer`, [
    [t`Product`, choice('product', [['Slb', 'CLB'], ['Nlb', 'NLB']])],
    [t`Name`, text('name', { maxlength: 80 })],
    [t`Region`, choice('region', regions.map((r) => [r]))],
    [t`Type`, choice('type', [['internet'], ['intranet']])],
    [t`vSwitches`, choice('vSwitches', [], { multiple: true, size: 4, required: true, 'aria-describedby': 'zoned' })],
    ['', el('small', { id: 'zoned', class: 'quiet' })],
  ], t`Create`, async ({ product, region, ...form }) => {
    const chosen = vSwitches.filter((s) => form.vSwitches?.includes(s.id));
    const body = await act('createBalancer', { product, region, account: chosen[0]?.account }, { ...form, vSwitches: chosen });
    if (body) done(body.LoadBalancerId ?? body.LoadbalancerId);
    return body;
  });
  const fit = () => {
    fill(fields.vSwitches, vSwitches.filter((s) => s.region === fields.region.value).map((s) => el('option', { value: s.id }, `${called(s)[1]} ${s.fields.zone}`)));
    const wanted = fields.product.value === 'Nlb' || fields.type.value === 'intranet';
    only(fields.vSwitches, wanted);
    only($('#zoned'), wanted);
    fields.vSwitches.disabled = !wanted;
    zoned();
  };
  // zoned says how many zones are needed, before the cloud refuses another number.
  const zoned = () => {
    const nlb = fields.product.value === 'Nlb';
    const needs = nlb ? t`A Network Load Balancer needs a vSwitch in each of two zones or more.` : t`Choose one vSwitch.`;
    $('#zoned').textContent = needs;
    const chosen = [...fields.vSwitches.selectedOptions].map((o) => vSwitches.find((s) => s.id === o.value).fields.zone);
    fields.vSwitches.setCustomValidity(!fields.vSwitches.disabled && (nlb ? new Set(chosen).size < 2 || new Set(chosen).size < chosen.length : chosen.length !== 1) ? needs : '');
  };
  fields.vSwitches.addEventListener('change', zoned);
  for (const name of ['product', 'region', 'type']) fields[name].addEventListener('change', fit);
  fit();
});

export const createListener = (lb, done) => attempt(async () => {
  const clb = lb.product === 'Slb';
  const groups = (await listed('group', lb)).filter((g) => g.product === lb.product && (clb ? g.loadBalancer === lb.id && g.fields.type === 'vserver' : g.fields.vpc === lb.fields.vpc));
  const certificates = clb ? (await listed('cert', lb)).filter((c) => c.fields.type === 'server') : [];
  const fields = ask(t`Add a listener`, [
    [t`Protocol`, choice('protocol', (clb ? ['tcp', 'udp', 'http', 'https'] : ['TCP', 'UDP', 'TCPSSL']).map((p) => [p]))],
    [t`Port`, text('port', { type: 'number', min: 1, max: 65535, required: true })],
    [t`Server group`, choice('group', [...(clb ? [['', t`default group`]] : []), ...groups.map(called)], { required: !clb })],
    [t`Port of the servers`, text('serverPort', { type: 'number', min: 1, max: 65535, required: true })],
    [t`Certificate`, clb ? choice('certificate', certificates.length ? certificates.map(called) : [['', t`none yet: clbemu call UploadServerCertificate`]], { required: true }) : text('certificate', { required: true })],
  ], t`Add`, async (form) => {
    const made = await act('addListener', lb, form);
    if (made && clb) await act('start', { product: lb.product, account: lb.account, region: lb.region, loadBalancer: lb.id, fields: { port: form.port, protocol: form.protocol } });
    done();
    return made;
  });
  const fit = () => {
    const shown = { serverPort: clb && !fields.group.value, certificate: /^(https|TCPSSL)$/.test(fields.protocol.value) };
    for (const [name, is] of Object.entries(shown)) {
      only(fields[name], is);
      fields[name].disabled = !is;
    }
  };
  for (const name of ['protocol', 'group']) fields[name].addEventListener('change', fit);
  fit();
});

export const createGroup = (lb, done) => ask(t`Add a server group`, [
  [t`Name`, text('name', { required: true, maxlength: 80 })],
  ...(lb.product === 'Nlb' ? [[t`Protocol`, choice('protocol', [['TCP'], ['UDP'], ['TCPSSL'], ['TCP_UDP']])]] : []),
], t`Add`, async (form) => {
  const made = await act('addGroup', lb, form);
  if (made) done();
  return made;
});

export const addServer = (g, done) => attempt(async () => {
  const servers = (await listed('instance,eni', g)).filter((s) => s.kind === 'instance' || g.fields.type !== 'default' && !s.fields.instance);
  ask(t`Add a server`, [
    [t`Server`, choice('server', servers.map((s) => [s.id, `${called(s)[1]} ${s.fields.address ?? ''}`]), { required: true })],
    ...(g.fields.type === 'default' ? [] : [[t`Port`, text('port', { type: 'number', min: 1, max: 65535, required: true })]]),
    [t`Weight`, text('weight', { type: 'number', min: 0, max: 100, required: true, value: 100 })],
  ], t`Add`, async (form) => {
    const s = servers.find((one) => one.id === form.server);
    const made = await act('addServer', g, { fields: { server: s.id, address: s.fields.address?.split(',')[0], type: s.kind === 'eni' ? 'eni' : 'ecs', port: form.port } }, form.weight);
    if (made) done();
    return made;
  });
});

export const addEntry = (acl) => ask(t`Add an entry`, [
  [t`CIDR block`, text('entry', { required: true, placeholder: '192.0.2.0/24' })],
  [t`Comment`, text('comment', { maxlength: 256 })],
], t`Add`, (form) => act('addEntry', acl, form));
