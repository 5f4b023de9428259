// What somebody can do to a load balancer here, as in the cloud's own console: each is a
// call of the cloud's API, which the emulator signs, and which the journal shows as made by
// the console.

import { call } from './api.js';
import { attempt, say, sure } from './page.js';
import { t } from './words.js';

const server = (s, weight) => ({ ServerId: s.fields.server, ServerIp: s.fields.type === 'eni' ? s.fields.address : undefined, Type: s.fields.type, Port: s.fields.port, Weight: weight });

const ofListener = (l) => ({ LoadBalancerId: l.loadBalancer, ListenerPort: l.fields.port, ListenerProtocol: l.fields.protocol });

// The calls of each product. What a product can't do is not here, and has no button.
const calls = {
  Slb: {
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

// drop deletes a load balancer, and switches its protection off only where the user agrees.
export async function drop(lb) {
  if (!(await sure(t`Delete ${lb.name || lb.id}?`, t`Its listeners, rules and vServer groups go with it. A Cloud Controller Manager does not create it again by itself.`, t`Delete`))) return;
  await attempt(async () => {
    try {
      await make('deleteBalancer', lb, []);
    } catch (problem) {
      if (!/Delet\w*Protection/.test(problem.code)) throw problem;
      if (!(await sure(t`It is protected against deletion`, t`${lb.name || lb.id} has deletion protection, as a Cloud Controller Manager sets it.`, t`Switch it off and delete`))) return;
      await make('unprotect', lb, []);
      await make('deleteBalancer', lb, []);
    }
  });
}

// mark sets what health checks find of a server, which is a condition of the world, and says
// where no check does.
export async function mark(s, health) {
  const set = await attempt(() => call('PATCH', '/v1/world', { query: { account: s.account, region: s.region },
  body: { settings: [{ name: `server.${s.fields.server || s.fields.address}.health`, value: health }] } }));
  if (set?.warnings) say(set.warnings.join('\n'), 'odd');
  return set;
}
