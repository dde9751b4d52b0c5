import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ADMINISTRATOR, buy, sellPlan, untilPaymentEventsProcessed } from '../../support/billing.ts';
import { newApp, newDeveloper, unique } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { signingKeys } from '../../support/signing-keys.ts';

const service = await startTestService({ TRUSTED_PROXIES: '127.0.0.0/8,::1/128' });
const { api, clock } = service;
const { knex } = service.database;

/** Where the administrator sits. No other request has this address. */
const ADDRESS = '203.0.113.77';

const developer = await newDeveloper(api);
await newApp(api, developer);
const plan = await sellPlan(api, { period: 'lifetime' });
const { invoice } = await buy(api, developer, plan, 'pays');
await untilPaymentEventsProcessed(service);

const send = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
  api.call(method, `/api/v2/admin/${path}`, body, {
    ...ADMINISTRATOR,
    headers: { 'x-forwarded-for': ADDRESS },
  });

/** What the administrator can change, in an order in which each succeeds. */
const CHANGES: Readonly<Record<string, () => ReturnType<typeof send>>> = {
  createPlan: () =>
    send('POST', 'plans', {
      name: unique('Pro'),
      period: 'monthly',
      price: 5,
      max_apps: 1,
      max_users_per_app: 1,
    }),
  updatePlan: () => send('PATCH', `plans/${plan.plan_id}`, { name: unique('Pro') }),
  archivePlan: () => send('DELETE', `plans/${plan.plan_id}`),
  refundInvoice: () => send('POST', `invoices/${invoice.invoice_id}/refunds`, {}),
  suspendDeveloper: () =>
    send('POST', `developers/${developer.developerId}/suspend`, {
      reason: 'Chargebacks',
      disable_applications: true,
    }),
  reinstateDeveloper: () => send('POST', `developers/${developer.developerId}/reinstate`),
  rotateSigningKeys: () => send('POST', 'signing-keys'),
  removeSigningKey: async () => {
    clock.advance(600_000);
    const retired = (await signingKeys(api)).find(({ state }) => state === 'retired');
    return send('DELETE', `signing-keys/${retired!.key_id}`);
  },
};

test('every operation that changes something is tried here', () => {
  const contract = JSON.parse(readFileSync('generated/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string; 'x-bearer-token'?: string }>>;
  };
  const changing = Object.values(contract.paths)
    .flatMap(({ post, put, patch, delete: remove }) => [post, put, patch, remove])
    .filter((operation) => operation?.['x-bearer-token'] === 'administrator');
  expect(changing.map((operation) => operation!.operationId).toSorted()).toEqual(
    Object.keys(CHANGES).toSorted(),
  );
});

test('nothing that a developer can see has the address of the administrator', async () => {
  for (const [operation, change] of Object.entries(CHANGES)) {
    const { status } = await change();
    expect([operation, status]).toEqual([operation, status < 300 ? status : 'a success']);
  }
  await untilPaymentEventsProcessed(service);
  const own = { developer_id: 'administrator', actor_kind: 'administrator', address: ADDRESS };
  const known = await knex('audit_log').where(own).pluck<string[]>('action');
  expect(known).toContain('developer.suspended');
  const copies = knex('audit_log')
    .where({ actor_kind: 'administrator' })
    .whereNot({ developer_id: 'administrator' });
  expect((await copies.pluck<string[]>('action')).toSorted()).toEqual([
    'developer.reinstated',
    'developer.suspended',
    'invoice.refunded',
  ]);
  const { rows } = await knex.raw<{ rows: { name: string }[] }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname in ('public', 'pgboss')`,
  );
  for (const { name } of rows) {
    // Rows of limits are not shown to anyone, and end with their interval.
    if (name === 'public.rate_limits') continue;
    const found = knex({ entry: name }).whereRaw('entry::text like ?', [`%${ADDRESS}%`]);
    if (name === 'public.audit_log') void found.whereNot({ developer_id: 'administrator' });
    expect([name, await found.select('*')]).toEqual([name, []]);
  }
});
