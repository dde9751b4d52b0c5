import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newDeveloper, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';

const { api } = await startTestService();

const list = (token: string | undefined, query = '') =>
  api.call<components['schemas']['ApplicationList']>('GET', `/api/v2/dev/apps${query}`, undefined, { token });

/** Every page from the first to the last. */
async function pages(token: string, limit: number): Promise<string[][]> {
  const found: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await list(token, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    found.push(body.data.map(({ app_id }) => app_id));
    cursor = body.next_cursor;
  }
  return found;
}

describe('pages', async () => {
  const developer = await newDeveloper(api);
  const made: string[] = [];
  for (let app = 0; app < 22; app++) made.unshift((await newApp(api, developer)).app_id);

  test.each([1, 5, 11, 21, 22, 23, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found = await pages(developer.token, limit);
    expect(found.flat()).toEqual(made);
    expect(found.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    expect(found).toHaveLength(Math.ceil(made.length / limit));
  });

  test('have 20 items by default', async () => {
    const { body } = await list(developer.token);
    expect(body.data).toHaveLength(20);
    expect(body.next_cursor).not.toBeNull();
  });

  test('have no overlaps or gaps if applications are created and deleted in between', async () => {
    const busy = await newDeveloper(api);
    const apps = [];
    for (let app = 0; app < 4; app++) apps.unshift((await newApp(api, busy)).app_id);
    const first = await list(busy.token, '?limit=2');
    const late = await newApp(api, busy);
    await api.call('DELETE', `/api/v2/dev/apps/${apps[1]}`, undefined, { token: busy.token });
    const second = await list(busy.token, `?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body.data.map(({ app_id }) => app_id)).toEqual(apps.slice(2));
    expect((await list(busy.token)).body.data[0]).toMatchObject({ app_id: late.app_id });
  });

  test("with another developer's cursor show only own applications", async () => {
    const other = await newDeveloper(api);
    const own = await newApp(api, other);
    const { body } = await list(developer.token, '?limit=1');
    const response = await list(other.token, `?cursor=${body.next_cursor}`);
    expect(response.body.data.every(({ app_id }) => app_id === own.app_id)).toBe(true);
  });
});

test('shows own applications only, with their present state', async () => {
  const [developer, stranger] = [await newDeveloper(api), await newDeveloper(api)];
  await newApp(api, stranger);
  const app = await newApp(api, developer);
  await newUser(api, app);
  await app.patch({ status: 'paused' });
  const { body } = await list(developer.token);
  expect(body.data).toMatchObject([{ app_id: app.app_id, status_code: 'paused', paused: true, users: 1 }]);
  expect(body.next_cursor).toBeNull();
});

test('is empty and on its last page without applications', async () => {
  const { token } = await newDeveloper(api);
  expect((await list(token)).body).toEqual({ status: 'success', data: [], next_cursor: null });
});

describe('VALIDATION_FAILED', async () => {
  const developer = await newDeveloper(api);
  const { token } = developer;

  test.each([
    ['?limit=0', 'query/limit'],
    ['?limit=101', 'query/limit'],
    ['?limit=-1', 'query/limit'],
    ['?limit=1.5', 'query/limit'],
    ['?limit=ten', 'query/limit'],
    ['?limit=', 'query/limit'],
    ['?limit=1e400', 'query/limit'],
    ['?limit=-1e400', 'query/limit'],
    ['?limit=0x10', 'query/limit'],
    ['?limit=1e1', 'query/limit'],
    ['?limit=1&limit=2', 'query/limit'],
    ['?cursor=', 'query/cursor'],
    ['?cursor=nonsense', 'query/cursor'],
    ['?cursor=%00', 'query/cursor'],
    ['?cursor=!', 'query/cursor'],
    ['?cursor=a', 'query/cursor'],
    [`?cursor=${'a'.repeat(257)}`, 'query/cursor'],
    [`?cursor=${Buffer.from('lic_01kazm8e3rfxkb0a6t2d5v9j1m').toString('base64url')}`, 'query/cursor'],
    [`?cursor=${Buffer.from('app_01kazm8e3rfxkb0a6t2d5v9j1m\n').toString('base64url')}`, 'query/cursor'],
    [`?cursor=${Buffer.from("app_' or 1=1 --").toString('base64url')}`, 'query/cursor'],
    ['?cursor=a&cursor=b', 'query/cursor'],
  ])('for %s', async (query, pointer) => {
    expectFaults(await list(token, query), pointer);
  });

  test('for both parameters at once', async () => {
    expectFaults(await list(token, '?limit=x&cursor='), 'query/limit', 'query/cursor');
  });
});

test('UNAUTHORIZED without a token', async () => {
  expectError(await list(undefined), 401, 'UNAUTHORIZED');
});
