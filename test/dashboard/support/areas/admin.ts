import { ADMINISTRATOR, buy, sellPlan } from '../../../support/billing.ts';
import { newDeveloper } from '../../../support/fixtures.ts';
import type { TestService } from '../../../support/service.ts';
import type { Account } from '../account.ts';
import type { Area, DashboardRoute } from '../area.ts';

const made = { suspended: '', plan: '', invoice: '', audit: '' };

const routes: readonly DashboardRoute[] = [
  { name: 'the home of the operator', path: () => '/admin', shows: 'Net revenue by day' },
  { name: 'developers', path: () => '/admin/developers?suspended=true', shows: '1 developer' },
  {
    name: 'a suspended developer',
    path: () => `/admin/developers/${made.suspended}`,
    shows: 'Suspended since',
  },
  { name: 'plans', path: () => '/admin/plans', shows: 'archived' },
  { name: 'creating a plan', path: () => '/admin/plans?create=yes', shows: 'A developer is on one plan' },
  { name: 'a plan', path: () => `/admin/plans?plan=${made.plan}`, shows: 'Archive' },
  { name: 'invoices', path: () => '/admin/invoices', shows: 'IN-0' },
  { name: 'an invoice', path: () => `/admin/invoices?invoice=${made.invoice}`, shows: 'Checkout' },
  { name: 'signing keys', path: () => '/admin/signing-keys', shows: 'What happens to programs' },
  {
    name: 'an entry of the audit log',
    path: () => `/admin/audit-log?action=developer.&entry=${made.audit}`,
    shows: 'Entry identifier',
  },
  { name: 'the audit log', path: () => '/admin/audit-log?kind=administrator&from=::1', shows: 'No entry' },
];

/** A paid plan, an archived one, a pack, and a suspended developer. */
async function prepare({ api }: TestService, { developer }: Account): Promise<void> {
  const plan = await sellPlan(api, {
    name: 'Console studio',
    features: ['Priority support', 'Your own domain'],
  });
  made.plan = plan.plan_id;
  const old = await sellPlan(api, { name: 'Console early bird', price: 9 });
  await api.call('DELETE', `/api/v2/admin/plans/${old.plan_id}`, undefined, ADMINISTRATOR);
  const pack = { kind: 'license_quota', name: 'Console pack', price: 25, licenses: 1_000 };
  await api.post('/api/v2/admin/plans', pack, ADMINISTRATOR);
  made.invoice = (await buy(api, developer, plan)).invoice.invoice_id;
  const suspended = await newDeveloper(api);
  made.suspended = suspended.developerId;
  const path = `/api/v2/admin/developers/${suspended.developerId}/suspend`;
  await api.post(path, { reason: 'Chargebacks' }, ADMINISTRATOR);
  const audit = await api.call<{ data: { audit_id: string }[] }>(
    'GET',
    '/api/v2/admin/audit-log?action_prefix=developer.',
    undefined,
    ADMINISTRATOR,
  );
  made.audit = audit.body.data[0]!.audit_id;
}

/** The console of the operator. */
export const admin: Area = { visitor: 'administrator', prepare, routes };
