// Makes calls with the cloud's own clients for Node. Each line of the input is a call,
// each line of the output what came of it, in the same order.
const { createInterface } = require('readline');
const OpenAPI = require('@alicloud/openapi-client');
const { RuntimeOptions } = require('@alicloud/tea-util');
const PopCore = require('@alicloud/pop-core');

// The clients give up after some seconds by themselves, in which a busy machine may not answer.
const patience = 300_000;

// nested makes Tag: [{Key: 'a'}] of Tag.1.Key: 'a', as programs write parameters.
function nested(params) {
  const root = {};
  for (const [name, value] of Object.entries(params)) {
    const parts = name.split('.');
    let at = root;
    parts.forEach((part, i) => {
      const key = Array.isArray(at) ? Number(part) - 1 : part;
      if (i === parts.length - 1) at[key] = value;
      else at = at[key] ??= /^[0-9]+$/.test(parts[i + 1]) ? [] : {};
    });
  }
  return root;
}

// openapi calls with the generic client of the generated ones: signature v2 is the
// older scheme, any other is ACS3.
async function openapi(call) {
  const client = new OpenAPI.default(new OpenAPI.Config({
    accessKeyId: call.id, accessKeySecret: call.secret, endpoint: call.host, protocol: 'HTTP', regionId: call.region,
    signatureAlgorithm: call.signature, readTimeout: patience,
  }));
  const params = new OpenAPI.Params({
    action: call.action, version: call.version, protocol: 'HTTP', method: 'POST', authType: 'AK', style: 'RPC', pathname: '/',
    reqBodyType: call.body === 'json' ? 'json' : 'formData', bodyType: 'json',
  });
  const sent = call.body === 'query' ? { query: call.params } : { body: call.body === 'json' ? nested(call.params) : call.params };
  const answer = await client.callApi(params, new OpenAPI.OpenApiRequest(sent), new RuntimeOptions({ autoretry: false }));
  return answer.body;
}

function pop(call) {
  const client = new PopCore({ accessKeyId: call.id, accessKeySecret: call.secret, endpoint: `http://${call.host}`, apiVersion: call.version });
  return client.request(call.action, call.params, { method: call.body === 'query' ? 'GET' : 'POST', formatParams: false, timeout: patience });
}

async function main() {
  for await (const line of createInterface({ input: process.stdin })) {
    const call = JSON.parse(line);
    let result;
    try {
      result = { body: await (call.client === 'pop' ? pop : openapi)(call) };
    } catch (error) {
      result = { code: error.code ?? '', message: String(error.message ?? error) };
    }
    process.stdout.write(JSON.stringify(result) + '\n');
  }
}

main();
