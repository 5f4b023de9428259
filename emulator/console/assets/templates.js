// Rules to begin with; each is for an action.

const name = (word, action) => `${word}-${action.replace(/[^A-Za-z0-9]+/g, '').toLowerCase().slice(0, 40) || 'any'}`;
// quoted is a text as YAML takes it, a glob too.
const quoted = (text) => (/^[A-Za-z0-9]+$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`);
const rule = (word, effect, when) => (action) => `name: ${name(word, action)}
match:
  action: ${quoted(action)}
${when ? `when: ${when}\n` : ''}effect:
  ${effect}
`;

export const templates = [
  { id: 'refuse', title: 'Refuse once', action: 'CreateLoadBalancer', about: 'The next call is refused, as by a cloud that has trouble. A client should try again.',
    text: rule('refuse', 'error: {code: ServiceUnavailable}', '{times: 1}') },
  { id: 'lost', title: 'Lose the answer once', action: 'CreateLoadBalancer', about: 'The change is made and its answer never arrives. A client that sends no ClientToken makes it twice.',
    text: rule('lost', 'afterCommit: reset', '{times: 1}') },
  { id: 'throttle', title: 'Throttle', action: 'Describe*', about: 'More than two calls a second are refused. A client should slow down.',
    text: rule('throttle', 'throttle: {qps: 2, burst: 2}') },
  { id: 'slow', title: 'Answer slowly', action: '*', about: 'Each call takes as long as in a busy cloud, a few of them very long.',
    text: rule('slow', 'delay: {lognormal: {median: 300ms, sigma: 1}}') },
  { id: 'hang', title: 'Never answer', action: 'DescribeLoadBalancerAttribute', about: 'The next three calls are answered by nothing, until the client gives up.',
    text: rule('hang', 'hang: {}', '{times: 3}') },
  { id: 'stale', title: 'Read what was before', action: 'Describe*', about: 'Reads see the state as it was five changes ago, as from a replica that lags.',
    text: rule('stale', 'stale: {calls: 5}') },
  { id: 'some', title: 'Refuse some', action: '*', about: 'One call in ten is refused, the same ones each time.',
    text: rule('some', 'error: {code: InternalError}', '{probability: 0.1, seed: 1}') },
  { id: 'malformed', title: 'Answer nonsense once', action: 'DescribeLoadBalancers', about: 'The next answer is none that a client can read.',
    text: rule('malformed', 'malformed: true', '{times: 1}') },
];
