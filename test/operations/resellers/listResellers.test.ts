import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectFaults } from '../support/errors.ts';
import { newReseller } from '../support/resellers.ts';

const { api } = await startTestService();

const list = (token: string, query = '') =>
  api.call<components['schemas']['ResellerList']>('GET', `/api/v2/dev/resellers${query}`, undefined, {
    token,
  });

describe('pages', async () => {
  const app = await newApp(api);
  const made: string[] = [];
  for (let n = 0; n < 23; n += 1) {
    made.unshift((await newReseller(api, app, { price: null })).reseller_id);
  }

  test.each([1, 7, 22, 23, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { body } = await list(app.token, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ reseller_id }) => reseller_id));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(made);
    expect(pages).toBe(Math.ceil(made.length / limit));
  });

  test('have 20 items by default', async () => {
    expect((await list(app.token)).body.data).toHaveLength(20);
  });
});

test('shows the current state of each, without deleted ones', async () => {
  const app = await newApp(api);
  const [first, second] = [
    await newReseller(api, app, { balance: 12.5, commission_margin: 5 }),
    await newReseller(api, app),
  ];
  await first.patch({ suspended: true, name: 'First' });
  await api.call('DELETE', second.path, undefined, { token: app.token });
  expect((await list(app.token)).body.data).toMatchObject([
    { reseller_id: first.reseller_id, name: 'First', balance: 12.5, commission_margin: 5, suspended: true },
  ]);
});

test("shows no other developer's resellers", async () => {
  await newReseller(api, await newApp(api));
  const { token } = await newDeveloper(api);
  expect((await list(token)).body).toEqual({ status: 'success', data: [], next_cursor: null });
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await list((await newDeveloper(api)).token, query), pointer);
});
