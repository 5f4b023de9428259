// What a user can do to a load balancer here, as in the cloud's own console: each is a
// call of the cloud's API, which the emulator signs, and which the journal shows as made by
// the console.

import { call } from './api.js';
import { attempt, say, sure, unchecked } from './page.js';
import { t } from './words.js';

const server = (s, weight) => ({ ServerId: s.fields.server, ServerIp: s.fields.type === 'eni' ? s.fields.address : undefined, Type: s.fields.type, Port: s.fields.port, Weight: weight });

// numbered are the parameters of a list of objects: Name.1.Field.
const numbered = (name, list) => Object.fromEntries(list.flatMap((fields, i) => Object.entries(fields).map(([field, value]) => [`${name}.${i + 1}.${field}`, value])));

const ofListener = (l) => ({ LoadBalancerId: l.loadBalancer, ListenerPort: l.fields.port, ListenerProtocol: l.fields.protocol });

// The calls of each product. What a product can't do is not here, and has no button.
const calls = {
  Slb: {
    createBalancer: (_, f) => ['CreateLoadBalancer', { LoadBalancerName: f.name || undefined, AddressType: f.type, VSwitchId: f.vSwitches[0]?.id, InstanceChargeType: 'PayByCLCU' }],
    addListener: (lb, f) => [`CreateLoadBalancer${f.protocol.toUpperCase()}Listener`, { LoadBalancerId: lb.id, ListenerPort: f.port, Bandwidth: -1, VServerGroupId: f.group || undefined, BackendServerPort: f.serverPort,
      ServerCertificateId: f.certificate, ...(/^http/.test(f.protocol) ? { StickySession: 'off', HealthCheck: 'on' } : {}) }],
    addGroup: (lb, f) => ['CreateVServerGroup', { LoadBalancerId: lb.id, VServerGroupName: f.name }],
    addServer: (g, s, weight) => ({
      vserver: ['AddVServerGroupBackendServers', { VServerGroupId: g.id, BackendServers: JSON.stringify([server(s, weight)]) }],
      default: ['AddBackendServers', { LoadBalancerId: g.loadBalancer, BackendServers: JSON.stringify([{ ...server(s, weight), Port: undefined }]) }],
    })[g.fields.type],
    addEntry: (acl, f) => ['AddAccessControlListEntry', { AclId: acl.id, AclEntrys: JSON.stringify([f]) }],
    start: (l) => ['StartLoadBalancerListener', ofListener(l)],
    stop: (l) => ['StopLoadBalancerListener', ofListener(l)],
    deleteListener: (l) => ['DeleteLoadBalancerListener', ofListener(l)],
    tag: (lb, key, value) => ['TagResources', { ResourceType: 'instance', 'ResourceId.1': lb.id, 'Tag.1.Key': key, 'Tag.1.Value': value }],
    untag: (lb, key) => ['UntagResources', { ResourceType: 'instance', 'ResourceId.1': lb.id, 'TagKey.1': key }],
    weigh: (g, s, weight) => ({
      vserver: ['SetVServerGroupAttribute', { VServerGroupId: g.id, BackendServers: JSON.stringify([server(s, weight)]) }],
      default: ['SetBackendServers', { LoadBalancerId: g.loadBalancer, BackendServers: JSON.stringify([{ ...server(s, weight), Port: undefined }]) }],
    })[g.fields.type],
    deleteBalancer: (lb) => ['DeleteLoadBalancer', { LoadBalancerId: lb.id }],
    unprotect: (lb) => ['SetLoadBalancerDeleteProtection', { LoadBalancerId: lb.id, DeleteProtection: 'off' }],
  },
  Nlb: {
    createBalancer: (_, f) => ['CreateLoadBalancer', { LoadBalancerName: f.name || undefined, AddressType: f.type.replace('int', 'Int'), VpcId: f.vSwitches[0]?.fields.vpc,
      ...numbered('ZoneMappings', f.vSwitches.map((s) => ({ ZoneId: s.fields.zone, VSwitchId: s.id }))) }],
    addListener: (lb, f) => ['CreateListener', { LoadBalancerId: lb.id, ListenerProtocol: f.protocol, ListenerPort: f.port, ServerGroupId: f.group, 'CertificateIds.1': f.certificate }],
    addGroup: (lb, f) => ['CreateServerGroup', { ServerGroupName: f.name, VpcId: lb.fields.vpc, Protocol: f.protocol }],
    addServer: (g, s, weight) => ['AddServersToServerGroup', { ServerGroupId: g.id, ...numbered('Servers', [{ ServerId: s.fields.server, ServerType: s.fields.type?.replace(/^./, (c) => c.toUpperCase()), Port: s.fields.port, Weight: weight }]) }],
    start: (l) => ['StartListener', { ListenerId: l.id }],
    stop: (l) => ['StopListener', { ListenerId: l.id }],
    deleteListener: (l) => ['DeleteListener', { ListenerId: l.id }],
    tag: (lb, key, value) => ['TagResources', { ResourceType: 'loadbalancer', 'ResourceId.1': lb.id, 'Tag.1.Key': key, 'Tag.1.Value': value }],
    untag: (lb, key) => ['UntagResources', { ResourceType: 'loadbalancer', 'ResourceId.1': lb.id, 'TagKey.1': key }],
    weigh: (g, s, weight) => ['UpdateServerGroupServersAttribute', { ServerGroupId: g.id, 'Servers.1.ServerId': s.fields.server || s.fields.address,
      'Servers.1.ServerType': s.fields.type, 'Servers.1.ServerIp': s.fields.address, 'Servers.1.Port': s.fields.port, 'Servers.1.Weight': weight }],
    deleteBalancer: (lb) => ['DeleteLoadBalancer', { LoadBalancerId: lb.id }],
    unprotect: (lb) => ['UpdateLoadBalancerProtection', { LoadBalancerId: lb.id, DeletionProtectionEnabled: 'false' }],
  },
};

// The call of a deed, undefined where the product has none.
const planned = (deed, resource, ...details) => calls[resource.product]?.[deed]?.(resource, ...details);

// can reports whether a deed can be done to a resource.
export const can = (deed, resource, ...details) => planned(deed, resource, ...details) !== undefined;

// make makes the call, and throws what the cloud refused.
async function make(deed, resource, details) {
  const [action, parameters] = planned(deed, resource, ...details);
  const { status, body } = await call('POST', '/v1/calls', { body: { account: resource.account, product: resource.product, action,
    parameters: { RegionId: resource.region, ...Object.fromEntries(Object.entries(parameters).filter(([, value]) => value != null).map(([name, value]) => [name, String(value)])) } } });
  if (status === 200) return body;
  throw Object.assign(new Error(t`The cloud refused ${action}: ${status} ${body.Code}: ${body.Message}`), { code: body.Code });
}

// act does a deed, and says why not where it is refused.
export const act = (deed, resource, ...details) => attempt(() => make(deed, resource, details));

// drop deletes load balancers, and switches their protection off only where the user agrees.
export async function drop(...list) {
  const called = list.map((lb) => lb.name || lb.id);
  const title = list.length === 1 ? t`Delete ${called[0]}?` : t`Delete ${list.length} load balancers?`;
  const names = list.length === 1 ? '' : `${called.slice(0, 10).join(', ')}${list.length > 10 ? ' …' : ''}\n`;
  if (!(await sure(title, names + t`Its listeners, rules and vServer groups go with it. A Cloud Controller Manager does not create it again by itself.`, t`Delete`))) return;
  await attempt(async () => {
    for (const lb of list) {
      try {
        await make('deleteBalancer', lb, []);
      } catch (problem) {
        if (!/Delet\w*Protection/.test(problem.code)) throw problem;
        if (!(await sure(t`It is protected against deletion`, t`${lb.name || lb.id} has deletion protection, as a Cloud Controller Manager sets it.`, t`Switch it off and delete`))) return;
        await make('unprotect', lb, []);
        await make('deleteBalancer', lb, []);
      }
    }
  });
}

// mark sets what health checks find of a server, which is a condition of the world, and says
// where no check does.
export async function mark(s, health) {
  const set = await attempt(() => call('PATCH', '/v1/world', { query: { account: s.account, region: s.region },
  body: { settings: [{ name: `server.${s.fields.server || s.fields.address}.health`, value: health }] } }));
  if (set?.warnings) say(set.warnings.join('\n'), 'odd');
  else if (set && health !== 'default' && unchecked(s.fields.health)) say(t`No listener checks the server in this group: the mark acts in its other groups.`, 'odd');
  return set;
}
