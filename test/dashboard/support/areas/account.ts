import type { components } from '../../../../generated/types.ts';
import { sellPlan } from '../../../support/billing.ts';
import { authorize, newClient } from '../../../support/oauth.ts';
import type { TestService } from '../../../support/service.ts';
import { newReseller } from '../../../operations/support/resellers.ts';
import { newApiToken } from '../../../operations/support/tokens.ts';
import type { Account } from '../account.ts';
import type { Area, DashboardRoute } from '../area.ts';

type Schemas = components['schemas'];

/** The longest name, of a kind that must stay inert. */
const HOSTILE = `<img src=x onerror=alert(1)> שלום ${'W'.repeat(66)}`;

/** What the paths of the pages have in them. */
const made = { resellerId: '', clientId: '', agentId: '', auditId: '' };

async function makeResellers({ api }: TestService, { app, developer }: Account): Promise<void> {
  const { token } = developer;
  const post = (path: string, body: object) => api.post(path, body, { token });
  await post('/api/v2/dev/resellers', { name: HOSTILE, currency: 'JPY', commission_margin: 5 });
  const other = await newReseller(api, app, { commission_margin: 20 });
  await other.patch({ name: 'Pixel Market', suspended: true });
  const reseller = await newReseller(api, app, { commission_margin: 12.5, balance: 400 });
  made.resellerId = reseller.reseller_id;
  await reseller.patch({ name: 'Keys & More' });
  await reseller.price(
    { app_id: app.app_id, tier: 'Standard', duration_days: 30, price: 9.99 },
    { app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 20 },
    { app_id: app.app_id, tier: 'Pro', lifetime: true, price: 149 },
  );
  await reseller.keys(8);
  await post(`${reseller.path}/debits`, { amount: 25.5, note: 'Paid out by bank transfer' });
}

async function makeAccess({ api, baseUrl }: TestService, { developer }: Account): Promise<void> {
  const { token } = developer;
  await newApiToken(api, developer, ['read', 'write'], { name: 'Discord bot' });
  const used = await newApiToken(api, developer, ['read'], { name: HOSTILE });
  await api.call('GET', '/api/v2/dev/me', undefined, { token: used.token });
  const client = await newClient(api, developer, { name: 'License desk' });
  made.clientId = client.client_id;
  await newClient(api, developer, {
    name: 'Build server',
    grant_types: ['client_credentials'],
    scopes: ['read'],
  });
  const { redeem } = await authorize(baseUrl, developer, client);
  await redeem();
  const agent = await api.post<Schemas['CreateAgentResult']>(
    '/api/v2/dev/agents',
    { name: 'Release bot', scopes: ['read', 'agent:execute'] },
    { token },
  );
  made.agentId = agent.body.agent_id;
  const receiver = { url: 'https://idp.example.com/security-events', audience: 'https://idp.example.com' };
  await api.post('/api/v2/dev/security-event-receivers', receiver, { token });
  await api.post('/api/v2/dev/login', { email: developer.email, password: developer.password });
  const { body } = await api.call<Schemas['AuditEntryList']>(
    'GET',
    '/api/v2/dev/audit-log?action=reseller.updated&limit=1',
    undefined,
    { token },
  );
  made.auditId = body.data[0]!.audit_id;
}

/** Plans to choose from. The developer buys one in the area of the operator, whose pages show the invoice. */
async function makePlans({ api }: TestService): Promise<void> {
  await sellPlan(api, {
    name: 'Pro',
    price: 19,
    max_apps: 100,
    max_users_per_app: 1_000_000,
    max_licenses: 50_000,
    features: ['priority_support'],
  });
  await sellPlan(api, {
    name: 'Pro',
    price: 190,
    period: 'yearly',
    max_apps: 100,
    max_users_per_app: 1_000_000,
  });
  await sellPlan(api, {
    name: 'Pro forever',
    price: 490,
    period: 'lifetime',
    max_apps: 100,
    max_users_per_app: 1_000_000,
    features: ['hwid_lock'],
  });
  await sellPlan(api, { name: 'Team', price: 99, max_apps: 500, max_users_per_app: 5_000_000 });
  await sellPlan(api, {
    name: '10,000 keys',
    kind: 'license_quota',
    period: 'lifetime',
    licenses: 10_000,
    price: 9,
    max_apps: 0,
    max_users_per_app: 0,
  });
}

const routes: readonly DashboardRoute[] = [
  { name: 'resellers', path: () => '/resellers', shows: 'Pixel Market' },
  { name: 'a reseller', path: () => `/resellers/${made.resellerId}`, shows: 'Keys sold' },
  {
    name: 'the prices of a reseller',
    path: () => `/resellers/${made.resellerId}?tab=prices`,
    shows: 'Save prices',
  },
  {
    name: 'the ledger of a reseller',
    path: () => `/resellers/${made.resellerId}?tab=ledger`,
    shows: 'Commission',
  },
  { name: 'access, tokens', path: () => '/access', shows: 'Discord bot' },
  {
    name: 'access, registering a client',
    path: () => '/access?tab=clients&create=yes',
    shows: 'Sign-out redirect URIs',
  },
  {
    name: 'access, a client',
    path: () => `/access?tab=clients&client=${made.clientId}`,
    shows: 'Rotate the secret',
  },
  {
    name: 'access, an agent',
    path: () => `/access?tab=agents&agent=${made.agentId}`,
    shows: 'What it may do',
  },
  { name: 'access, receivers', path: () => '/access?tab=receivers', shows: 'none yet' },
  { name: 'access, sign-in', path: () => '/access?tab=sign-in', shows: 'this one' },
  { name: 'audit log', path: () => '/audit-log?action=reseller.', shows: 'reseller.updated' },
  { name: 'audit log, an entry', path: () => `/audit-log?entry=${made.auditId}`, shows: 'Actor identifier' },
  { name: 'plan', path: () => '/plan?checkout=newest', shows: 'The payment was confirmed' },
  { name: 'invoices', path: () => '/plan?tab=invoices', shows: 'IN-0' },
];

/** What an account has: resellers, access, the audit log and the plan. */
export const account: Area = {
  async prepare(service, prepared) {
    await makeResellers(service, prepared);
    await makeAccess(service, prepared);
    await makePlans(service);
  },
  routes,
};
