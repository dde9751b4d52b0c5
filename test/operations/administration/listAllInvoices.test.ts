import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { ADMINISTRATOR, invoicesOf, openCheckout, paid, sellPlan } from '../../support/billing.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api, services } = await startTestService();
const plan = await sellPlan(api, { period: 'lifetime' });

const list = (query = '', token: string | undefined = ADMINISTRATOR.token) =>
  api.call<components['schemas']['InvoiceList']>('GET', `/api/v2/admin/invoices${query}`, undefined, {
    token,
  });

/** A developer who has paid for a plan. */
async function payer() {
  const developer = await newDeveloper(api);
  await services.settlement.settle([paid(await openCheckout(api, developer, plan))], '127.0.0.1');
  return developer;
}

test('lists those of all developers, the newest first, as each developer sees their own', async () => {
  expect((await list()).body).toEqual({ status: 'success', data: [], next_cursor: null });
  const [first, second] = [await payer(), await payer()];
  const { status, body } = await list();
  expect(status).toBe(200);
  expect(body.data).toEqual([...(await invoicesOf(api, second)), ...(await invoicesOf(api, first))]);
});

test('with developer_id those of one', async () => {
  const developer = await payer();
  await payer();
  const { body } = await list(`?developer_id=${developer.developerId}`);
  expect(body.data).toEqual(await invoicesOf(api, developer));
  expect(body.data).toHaveLength(1);
  for (const id of ['dev_absent', developer.developerId.toUpperCase(), '%25', '%27--', 'x'.repeat(64)])
    expect((await list(`?developer_id=${id}`)).body.data).toEqual([]);
});

test('in pages', async () => {
  for (let n = 0; n < 3; n += 1) await payer();
  const whole = (await list('?limit=100')).body.data;
  const first = (await list('?limit=2')).body;
  const rest = (await list(`?limit=100&cursor=${first.next_cursor}`)).body;
  expect([...first.data, ...rest.data]).toEqual(whole);
  expect(rest.next_cursor).toBeNull();
});

test('VALIDATION_FAILED for what selects nothing', async () => {
  for (const limit of ['0', '101', 'x']) expectFaults(await list(`?limit=${limit}`), 'query/limit');
  for (const id of ['', 'x'.repeat(65)])
    expectFaults(await list(`?developer_id=${id}`), 'query/developer_id');
  expectError(await list('?cursor=x'), 400, 'VALIDATION_FAILED');
});

test('UNAUTHORIZED for every other caller', async () => {
  const { token } = await payer();
  expectError(await list('', token), 401, 'UNAUTHORIZED');
  expectError(await api.call('GET', '/api/v2/admin/invoices'), 401, 'UNAUTHORIZED');
});
