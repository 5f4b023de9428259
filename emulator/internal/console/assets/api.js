// Calls of the control API, and its streams. The token, where one is wanted, is kept in
// the tab's sessionStorage and sent as a header.

const tokenKey = 'clbemu.token';
export const token = {
  get: () => sessionStorage.getItem(tokenKey),
  set: (value) => sessionStorage.setItem(tokenKey, value),
  forget: () => sessionStorage.removeItem(tokenKey),
};

// The URL may carry the token after its #, which browsers never send; it is removed at once.
const brought = new URLSearchParams(location.hash.slice(1)).get('token');
if (brought) {
  token.set(brought);
  history.replaceState(null, '', location.pathname + location.search);
}

let askForToken = async () => {};
// onTokenWanted sets the function that asks for a token, and that reports a wrong one.
export const onTokenWanted = (ask) => { askForToken = ask; };

// Refused is an answer other than success.
export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

// root is where the control API of the page's cloud is: /clouds/NAME, or '' for the default
// cloud. This script is in a folder of it.
const root = new URL('..', import.meta.url).pathname.slice(0, -1);

// cloud is the name of the page's cloud.
export const cloud = root ? root.slice('/clouds/'.length) : 'default';

const address = (path, query) => {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== '' && value != null);
  return root + (given.length ? `${path}?${new URLSearchParams(given)}` : path);
};

let asking; // one question for all calls that are refused meanwhile

async function send(path, { method = 'GET', query, body, signal } = {}) {
  for (;;) {
    const sent = token.get();
    const headers = sent ? { Authorization: `Bearer ${sent}` } : {};
    const response = await fetch(address(path, query), { method, headers, body, signal, cache: 'no-store' });
    if (response.ok) return response;
    if (response.status !== 401) throw new Refused(response.status, await reason(response));
    if (token.get() !== sent) continue; // it was given meanwhile
    asking ??= askForToken(sent !== null).finally(() => { asking = undefined; });
    await asking;
  }
}

async function reason(response) {
  const text = await response.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text || `${response.status} ${response.statusText}`;
  }
}

// call makes a call and returns its answer; body is JSON unless it is a text.
export async function call(method, path, { query, body } = {}) {
  if (body !== undefined && typeof body !== 'string') body = JSON.stringify(body);
  const response = await send(path, { method, query, body });
  const json = response.headers.get('Content-Type')?.startsWith('application/json');
  return json ? response.json() : response.text();
}

export const get = (path, query) => call('GET', path, { query });

// path fills a name into the path of a call.
export const named = (path, name) => path + encodeURIComponent(name);

// events reads server-sent events.
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const lines = part.split('\n');
      const field = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      yield { event: field('event'), data: JSON.parse(field('data')) };
    }
  }
}

const retryAfter = 1000; // milliseconds

// follow reads a stream until it is stopped, and restarts it when it is cut off. It
// closes the stream of a hidden page: browsers open few connections to one address.
export function follow(path, query, { begin = () => {}, event, state = () => {}, refused = () => {} }) {
  let stop = new AbortController();
  let stopped = false;
  const run = async () => {
    const { signal } = stop;
    while (!signal.aborted && !document.hidden) {
      try {
        const response = await send(path, { query, signal });
        begin();
        state('live');
        for await (const e of events(response)) {
          if (signal.aborted) return;
          event(e);
        }
      } catch (problem) {
        if (signal.aborted) return;
        if (problem instanceof Refused && problem.status < 500) return refused(problem);
      }
      if (signal.aborted) return;
      state('lost');
      await new Promise((again) => setTimeout(again, retryAfter));
    }
  };
  const seen = () => {
    stop.abort();
    stop = new AbortController();
    if (!stopped && !document.hidden) run();
  };
  document.addEventListener('visibilitychange', seen);
  run();
  return () => {
    stopped = true;
    document.removeEventListener('visibilitychange', seen);
    stop.abort();
  };
}
