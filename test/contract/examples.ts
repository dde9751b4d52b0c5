import type { components } from '../../generated/types.ts';
import { ADMINISTRATOR, buy, sellPlan } from '../support/billing.ts';
import { newUser, unique } from '../support/fixtures.ts';
import type { MailedService } from '../operations/support/agents.ts';
import { newResetToken } from '../operations/support/passwords.ts';
import type { ContractOperation } from './operations.ts';
import {
  deviceHeaders,
  deviceOf,
  examplePath,
  locate,
  registerDeviceOf,
  stockedReseller,
  type Owner,
} from './parameters.ts';

type Members = Record<string, unknown>;

/** What operations need for their examples, besides the resources in their paths. */
const preparations: Readonly<Record<string, (owner: Owner) => Promise<unknown>>> = {
  endSecretOverlap: ({ api, app }) =>
    api.post(`/api/v2/dev/apps/${app.app_id}/rotate-secret`, {}, { token: app.token }),
  transferLicense: async (owner) => {
    const { api, app } = owner;
    const { license_id, license_key } = await newLicense(owner);
    const { username } = await newUser(api, app);
    await api.activate(app.with({ username, license_key }));
    const path = `/api/v2/dev/apps/${app.app_id}/licenses/{license_id}`;
    owner.made.set(path, Promise.resolve(license_id));
  },
  deleteUnusedLicenses: newLicense,
  unbanLicense: (owner) => prepareChange(owner, 'licenses/{license_id}', 'ban', {}),
  resumeLicense: (owner) => prepareChange(owner, 'licenses/{license_id}', 'pause', undefined),
  unbanUser: (owner) => prepareChange(owner, 'users/{user_id}', 'ban', {}),
  debitReseller: stockedReseller,
  createResellerLicenses: stockedReseller,
  reinstateDeveloper: ({ api, developer }) =>
    api.post(`/api/v2/admin/developers/${developer.developerId}/suspend`, {}, ADMINISTRATOR),
  getSubscription: subscribe,
  updateSubscription: subscribe,
};

/** Members of examples that name resources which do not exist in the test. */
const replacements: Readonly<Record<string, (owner: Owner, example: Members) => Promise<Members>>> = {
  registerDevice: async (owner) => ({ jwk: deviceOf(owner).jwk }),
  refreshSession: async (owner) => ({ token: await newDeviceSession(owner) }),
  loginDeveloper: async ({ developer }) => ({ email: developer.email, password: developer.password }),
  createBrowserSession: async ({ developer }) => ({ email: developer.email, password: developer.password }),
  changeDeveloperPassword: async ({ developer }) => ({ password: developer.password }),
  extendLicenses: ofNewLicense,
  banLicenses: ofNewLicense,
  pauseLicenses: ofNewLicense,
  deleteLicenses: ofNewLicense,
  unbanLicenses: (owner) => ofNewLicense(owner, 'ban'),
  resumeLicenses: (owner) => ofNewLicense(owner, 'pause'),
  banUsers: ofUser,
  deleteUsers: ofUser,
  unbanUsers: (owner) => ofUser(owner, 'ban'),
  registerDeveloper: async () => ({ email: `${unique('dev')}@example.com` }),
  claimAgent: async (owner) => ({ claim_token: await newClaim(owner) }),
  createCheckout: async ({ api }) => ({ plan_name: (await sellPlan(api)).name }),
  // A name and period identify one plan of the whole service.
  createPlan: async () => ({ name: unique('Pro') }),
  verifySandboxSession: async ({ api, app }, { username = 'agent', hwid }) => {
    const sandbox = { app_id: app.app_id, username: String(username), hwid: String(hwid) };
    return { token: (await api.sandbox(sandbox)).body.token };
  },
};

/** Starts a registration that can be claimed. */
async function newClaim({ api }: Owner): Promise<string> {
  const { body } = await api.post<components['schemas']['RegisterAgentResult']>('/api/v1/agent/register', {
    type: 'anonymous',
  });
  return body.claim_token!;
}

/** The id of a session that is bound to the owner's device. */
async function newDeviceSession(owner: Owner): Promise<string> {
  const { api, app } = owner;
  const { hwid } = deviceOf(owner);
  const user = await newUser(api, app, { hwid });
  const body = JSON.stringify({ app_id: app.app_id, ...user });
  const path = '/api/v2/client/login-password';
  const at = new Date((await api.health()).body.timestamp!);
  const headers = deviceHeaders(owner, { method: 'POST', deviceSignature: 'required' }, path, body, at);
  return (await api.post<{ session_id: string }>(path, body, { headers })).body.session_id;
}

/** Buys a monthly plan for the developer. */
async function subscribe({ api, developer }: Owner): Promise<void> {
  await buy(api, developer, await sellPlan(api));
}

/** Changes the resource in an operation's path beforehand. */
async function prepareChange(owner: Owner, path: string, change: string, body: unknown): Promise<void> {
  const at = await locate(owner, `/api/v2/dev/apps/{app_id}/${path}`);
  await owner.api.post(`${at}/${change}`, body, owner.app);
}

/** A new license, changed beforehand. */
async function ofNewLicense(owner: Owner, change?: unknown): Promise<Members> {
  const { license_id } = await newLicense(owner);
  const path = `/api/v2/dev/apps/${owner.app.app_id}/licenses/${license_id}`;
  if (typeof change === 'string')
    await owner.api.post(`${path}/${change}`, change === 'ban' ? {} : undefined, owner.app);
  return { license_ids: [license_id] };
}

/** A new user, changed beforehand. */
async function ofUser(owner: Owner, change?: unknown): Promise<Members> {
  const path = await locate(owner, '/api/v2/dev/apps/{app_id}/users/{user_id}');
  if (typeof change === 'string') await owner.api.post(`${path}/${change}`, {}, owner.app);
  return { user_ids: [path.split('/').at(-1)] };
}

async function newLicense({ api, app }: Owner) {
  const wanted = { amount: 1, duration_days: 30, tier: 'Pro' };
  const path = `/api/v2/dev/apps/${app.app_id}/licenses`;
  const { body } = await api.post<components['schemas']['CreateLicensesResult']>(path, wanted, app);
  return body.licenses[0]!;
}

/** Creates what an operation's example needs. */
export async function prepare(
  owner: Owner,
  { operationId, deviceSignature }: ContractOperation,
): Promise<void> {
  if (deviceSignature === 'required') await registerDeviceOf(owner);
  await preparations[operationId]?.(owner);
}

/**
 * An operation's example with the owner's application, a user with its username, that user's session and a new key.
 * @param mailed the service with the owner's mails. Without it, a mailed token is the example's
 * @returns undefined for an operation without a body, and the example for a body other than JSON
 */
export async function bodyFor(
  owner: Owner,
  operation: ContractOperation,
  mailed?: MailedService,
): Promise<unknown> {
  const { requestBody, operationId } = operation;
  if (typeof requestBody?.example !== 'object' || requestBody.example === null) return requestBody?.example;
  const { api, app } = owner;
  const example = requestBody.example as Members;
  const real: Members = { app_id: app.app_id, secret: app.secret };
  const username = String(example['username'] ?? unique('user'));
  if (!['registerUser', 'registerUserV2', 'createUser'].includes(operationId)) {
    const user = await newUser(api, app, {
      username,
      password: String(example['password'] ?? 'a user password'),
      hwid: String(example['hwid'] ?? unique('machine')),
    });
    real['token'] = (await api.login(app.with(user))).body.session_id;
    real['session_token'] = real['token'];
  }
  if (example['license_key'] !== undefined) [real['license_key']] = await app.keys(1, 'Pro', 30);
  if (operationId === 'resetDeveloperPassword' && mailed) {
    real['token'] = await newResetToken(mailed, owner.developer.email);
  }
  Object.assign(real, await replacements[operationId]?.(owner, example));
  const body = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, real[name] ?? value]),
  );
  // Replaces nested identifiers of the application, too.
  const [named] = /app_[0-9a-z]+/.exec(examplePath('/api/v2/dev/apps/{app_id}'))!;
  return JSON.parse(JSON.stringify(body).replaceAll(named, app.app_id));
}
