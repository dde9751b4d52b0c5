import { newAgentToken } from '../operations/support/machine-payments.ts';
import type { Api } from '../support/api.ts';
import { ADMINISTRATOR, buy, openCheckout, sellPlan } from '../support/billing.ts';
import { newBrowserSession, SAME_ORIGIN } from '../support/browser-session.ts';
import { ban, newApp, newDeveloper, newSession, type App, type Developer } from '../support/fixtures.ts';
import { authorize, newClient } from '../support/oauth.ts';
import { newDevice, trustedHeaders, type TestDevice } from '../support/trusted-client.ts';
import { operations, type ContractOperation } from './operations.ts';

/** An owner of the resources in paths, who may change them. */
export interface Owner {
  readonly api: Api;
  readonly developer: Developer;
  readonly app: App;
  /** The values created for the owner so far, by purpose. */
  readonly made: Map<string, Promise<string>>;
}

/** A new developer with an application. */
export async function newOwner(api: Api): Promise<Owner> {
  const developer = await newDeveloper(api);
  return { api, developer, app: await newApp(api, developer), made: new Map() };
}

/**
 * Creates a resource of an owner. @param prefix the path up to its parameter, with values
 * @returns the value of its path parameter
 */
type Maker = (owner: Owner, prefix: string) => Promise<string>;

/**
 * How to create the values of path parameters. By default, a value is created with the contract's example: by a POST to
 * the path before the parameter, whose response contains it, or by a PUT to the path itself.
 */
const makers: Readonly<Record<string, Maker>> = {
  app_id: async ({ app }) => app.app_id,
  developer_id: async ({ developer }) => developer.developerId,
  // The example bans a user, who would have to exist.
  ban_id: ({ api, app }) => ban(api, app, { kind: 'network', network: '203.0.113.7' }),
  user_id: async (owner, prefix) => {
    const { api, app } = owner;
    const { token, owner: user } = await newSession(api, app);
    // A reseller's users are those of the reseller's keys.
    if (prefix.startsWith('/api/v2/dev/reseller/')) {
      const license_key = idIn(await buyKey(owner), 'license_key');
      await api.activate(app.with({ username: user.username, license_key }));
    }
    return (await api.verify({ app_id: app.app_id, token })).body.user_id;
  },
  license_id: async (owner, prefix) => {
    const { api, app } = owner;
    if (prefix.startsWith('/api/v2/dev/reseller/')) return idIn(await buyKey(owner), 'license_id');
    const wanted = { amount: 1, duration_days: 30, tier: 'Standard' };
    const path = `/api/v2/dev/apps/${app.app_id}/licenses`;
    return idIn((await api.post(path, wanted, app)).body, 'license_id');
  },
  session_ref: async ({ api, app }) => {
    await newSession(api, app);
    const { app_id, token } = app;
    const { body } = await api.call('GET', `/api/v2/dev/apps/${app_id}/sessions`, undefined, { token });
    return idIn(body, 'session_ref');
  },
  delivery_id: async (owner, prefix) => {
    await send(owner, 'POST', `${prefix.replace(/\/deliveries$/, '')}/test`);
    return idIn((await send(owner, 'GET', prefix)).body, 'delivery_id');
  },
  // Not the session whose token is used.
  developer_session_id: async ({ api, developer }) => {
    await api.post('/api/v2/dev/login', { email: developer.email, password: developer.password });
    const { body } = await api.call('GET', '/api/v2/dev/sessions', undefined, developer);
    return idIn((body as { data: object[] }).data[0]!, 'developer_session_id');
  },
  plan_id: async ({ api }) => (await sellPlan(api)).plan_id,
  checkout_id: async ({ api, developer }) =>
    (await openCheckout(api, developer, await sellPlan(api))).sessionId,
  invoice_id: async ({ api, developer }) =>
    (await buy(api, developer, await sellPlan(api, { period: 'lifetime' }))).invoice.invoice_id,
  authorization_id: async ({ api, developer }) => {
    await authorize(api.baseUrl, developer, await newClient(api, developer));
    const { body } = await api.call('GET', '/api/v2/dev/authorizations', undefined, developer);
    return idIn((body as { data: object[] }).data[0]!, 'authorization_id');
  },
  // The next key, because the one that signs cannot be retired.
  kid: async ({ api, app: { app_id, token } }) => {
    const path = `/api/v2/dev/apps/${app_id}/signing-keys`;
    const { body } = await api.call<{ data: object[] }>('GET', path, undefined, { token });
    return idIn(body.data.at(-1)!, 'kid');
  },
  // A new key, which has signed nothing yet, so that existing tokens stay valid.
  key_id: async ({ api }) => {
    const { body } = await api.post('/api/v2/admin/signing-keys', undefined, ADMINISTRATOR);
    return idIn((body as { data: object[] }).data[0]!, 'key_id');
  },
};

const EXAMPLE_HWID = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

/** Well-formed values that no owner has. */
const ABSENT: Readonly<Record<string, string>> = { name: 'absent', file_name: 'absent.bin' };

/**
 * A path to a resource of the owner.
 * @throws Error for a parameter that is not known here and that no example of the contract creates
 */
export async function locate(owner: Owner, path: string): Promise<string> {
  return fill(path, (name, prefix) => {
    const key = `${prefix}/{${name}}`;
    const known = owner.made.get(key) ?? (makers[name] ?? makerOf(name))(owner, prefix);
    owner.made.set(key, known);
    return known;
  });
}

/** The same path to a resource that does not exist, in one that does. */
export async function locateAbsent(owner: Owner, path: string): Promise<string> {
  const last = path.lastIndexOf('{');
  const name = path.slice(last + 1, path.indexOf('}', last));
  return (
    (await locate(owner, path.slice(0, last))) +
    absentOf(path, name) +
    path.slice(path.indexOf('}', last) + 1)
  );
}

/** A path with the contract's examples: well-formed, but without a resource. */
export function examplePath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => absentOf(path, name));
}

/** The required query of an operation, from the contract's examples. */
export function queryOf({ parameters }: ContractOperation): string {
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const query = new URLSearchParams(
    Object.fromEntries(needed.map(({ name, example }) => [name, String(example)])),
  ).toString();
  return query === '' ? '' : `?${query}`;
}

function absentOf(path: string, name: string): string {
  const operation = operations.find((each) => each.path === path);
  const example = operation?.parameters.find((each) => each.in === 'path' && each.name === name)?.example;
  return ABSENT[name] ?? String(example ?? 'absent');
}

/** The headers of a request to an operation that only the service's own pages may call. */
export async function pageHeaders(
  { api, developer }: Owner,
  { operationId, sameOrigin }: ContractOperation,
): Promise<Record<string, string>> {
  if (!sameOrigin) return {};
  // Others use the session that this one creates.
  return operationId === 'createBrowserSession'
    ? SAME_ORIGIN
    : (await newBrowserSession(api, developer)).headers;
}

const devices = new WeakMap<Owner, TestDevice>();

/** The device of an owner, with the machine of the contract's examples. */
export function deviceOf(owner: Owner): TestDevice {
  const device = devices.get(owner) ?? newDevice('EdDSA', EXAMPLE_HWID);
  devices.set(owner, device);
  return device;
}

/** Registers the device of an owner. */
export async function registerDeviceOf(owner: Owner): Promise<void> {
  const { hwid, alg, jwk } = deviceOf(owner);
  const body = JSON.stringify({ app_id: owner.app.app_id, hwid, alg, jwk });
  const path = '/api/v2/client/devices';
  const at = new Date((await owner.api.health()).body.timestamp!);
  const headers = deviceHeaders(owner, { method: 'POST', deviceSignature: 'self' }, path, body, at);
  await owner.api.post(path, body, { headers });
}

/**
 * The headers of a request to an operation that a device signs.
 * @param path with the query
 * @param body as it is sent; an object is sent as JSON
 * @param at the current time
 */
export function deviceHeaders(
  owner: Owner,
  { method, deviceSignature }: Pick<ContractOperation, 'method' | 'deviceSignature'>,
  path: string,
  body: unknown,
  at: Date,
): Record<string, string> {
  if (deviceSignature === undefined || deviceSignature === 'optional') return {};
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return trustedHeaders(owner.app.app_id, { method, path }, text || undefined, deviceOf(owner), { at });
}

/** A token of the owner with every scope for an operation, or undefined if it needs none. */
export async function tokenFor(
  owner: Owner,
  { bearer, tokenKind }: ContractOperation,
): Promise<string | undefined> {
  if (!bearer) return undefined;
  if (tokenKind === 'developer') return owner.developer.token;
  if (tokenKind === 'session') return sessionToken(owner);
  if (tokenKind === 'reseller') return resellerToken(owner, ['read', 'write']);
  if (tokenKind === 'agent') return newAgentToken(owner.api);
  if (tokenKind === 'administrator') return ADMINISTRATOR.token;
  throw new Error(`no token for ${tokenKind}: add it to test/contract/parameters.ts`);
}

/** A session token of a user of the owner's application. */
export function sessionToken(owner: Owner): Promise<string> {
  return once(owner, 'session', async () => (await newSession(owner.api, owner.app)).token);
}

/** Whether the contract has resellers. */
export const hasResellers = operations.some(({ operationId }) => operationId === 'createResellerToken');

/** A token of a reseller of the owner. */
export async function resellerToken(owner: Owner, scopes: readonly string[]): Promise<string> {
  const path = await locate(owner, '/api/v2/dev/resellers/{reseller_id}/tokens');
  const { body } = await owner.api.post(path, { name: 'till', scopes }, owner.developer);
  return String(body['token']);
}

/** A token of a reseller of the owner, with a balance and a price for 30 days of Pro. */
export async function stockedReseller(owner: Owner): Promise<string> {
  return once(owner, 'stocked reseller', async () => {
    const { api, app, developer } = owner;
    const path = await locate(owner, '/api/v2/dev/resellers/{reseller_id}');
    const prices = [{ app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 1 }];
    await api.post(`${path}/credits`, { amount: 1000 }, developer);
    await api.call('PUT', `${path}/prices`, { prices }, developer);
    return resellerToken(owner, ['read', 'write']);
  });
}

/** Buys licenses as a reseller of the owner. */
async function buyKey(owner: Owner): Promise<unknown> {
  const wanted = { app_id: owner.app.app_id, tier: 'Pro', duration_days: 30, amount: 1 };
  const token = await stockedReseller(owner);
  return (await owner.api.post('/api/v2/dev/reseller/licenses', wanted, { token })).body;
}

function once(owner: Owner, key: string, make: () => Promise<string>): Promise<string> {
  const known = owner.made.get(key) ?? make();
  owner.made.set(key, known);
  return known;
}

async function fill(
  path: string,
  valueOf: (name: string, prefix: string) => Promise<string>,
): Promise<string> {
  let filled = '';
  for (const part of path.slice(1).split('/')) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    filled += `/${name === undefined ? part : encodeURIComponent(await valueOf(name, filled))}`;
  }
  return filled;
}

/** Creates a resource from the contract's example. Developers create what sessions read. */
function makerOf(name: string): Maker {
  return async (owner, given) => {
    const prefix = given.replace(/^\/api\/v2\/client\/apps\//, '/api/v2/dev/apps/');
    const posted = operationAt('POST', prefix);
    if (posted) return idIn((await send(owner, 'POST', prefix)).body, name);
    const chosen = EXAMPLE_NAMES[name] ?? name;
    if (operationAt('PUT', `${prefix}/${chosen}`)) {
      await send(owner, 'PUT', `${prefix}/${chosen}`);
      return chosen;
    }
    throw new Error(`no value for {${name}} below ${given}: add a maker to test/contract/parameters.ts`);
  };
}

const EXAMPLE_NAMES: Readonly<Record<string, string>> = { name: 'motd', file_name: 'setup.bin' };

function operationAt(method: string, path: string): ContractOperation | undefined {
  const segments = path.split('/');
  return operations.find(
    (operation) =>
      operation.method === method &&
      operation.path.split('/').length === segments.length &&
      operation.path.split('/').every((part, place) => part.startsWith('{') || part === segments[place]),
  );
}

/** Sends the contract's example to a developer's path. */
async function send({ api, developer }: Owner, method: string, path: string) {
  const { requestBody } = operationAt(method, path) ?? {};
  const response = await api.call(method, path, requestBody?.example, {
    token: developer.token,
    ...(requestBody && { headers: { 'content-type': requestBody.mediaType } }),
  });
  if (response.status >= 300) {
    throw new Error(`${method} ${path} returned ${response.status} ${JSON.stringify(response.body)}`);
  }
  return response;
}

/** The first member with a name in a response, at any depth. */
function idIn(response: unknown, name: string): string {
  const found: string[] = [];
  JSON.stringify(response, (member, value: unknown) => {
    if (member === name && typeof value === 'string') found.push(value);
    return value;
  });
  if (found.length === 0) throw new Error(`no ${name} in ${JSON.stringify(response)}`);
  return found[0]!;
}
