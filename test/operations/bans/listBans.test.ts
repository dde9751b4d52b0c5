import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { SECOND } from '../../support/clock.ts';
import { ban, lift, newApp, newHwid, newUser, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

const { api, clock } = await startTestService();

const list = ({ app_id, token }: Pick<App, 'app_id' | 'token'>, query = '') =>
  api.call<components['schemas']['BanList']>('GET', `/api/v2/dev/apps/${app_id}/bans${query}`, undefined, {
    token,
  });

describe('pages', async () => {
  const app = await newApp(api);
  const made: string[] = [];
  for (let host = 0; host < 23; host += 1) {
    made.unshift(await ban(api, app, { kind: 'network', network: `203.0.113.${host}` }));
  }

  test.each([1, 7, 22, 23, 100])('of %d: complete, newest first, without overlap', async (limit) => {
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { body } = await list(app, `?limit=${limit}${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data.map(({ ban_id }) => ban_id));
      cursor = body.next_cursor;
    }
    expect(found).toEqual(made);
    expect(pages).toBe(Math.ceil(made.length / limit));
  });

  test('have 20 items by default', async () => {
    expect((await list(app)).body.data).toHaveLength(20);
  });

  test('begin at the cursor, separately for each application', async () => {
    const other = await newApp(api);
    const own = await ban(api, other, { kind: 'network', network: '203.0.113.1' });
    const { body } = await list(app, '?limit=1');
    const response = await list(other, `?cursor=${body.next_cursor}`);
    expect(response.body.data.map(({ ban_id }) => ban_id).filter((id) => id !== own)).toEqual([]);
  });
});

test('show every ban as created, even if it has expired', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const expires_at = new Date(clock.now().getTime() + SECOND).toISOString();
  const created_at = clock.now().toISOString();
  await ban(api, app, { kind: 'user', username: user.username, reason: 'a', expires_at });
  await ban(api, app, { kind: 'hardware', hwid: newHwid() });
  await ban(api, app, { kind: 'network', network: '2001:db8::/32' });
  clock.advance(SECOND);
  const nothing = { user_id: null, network: null, reason: null, expires_at: null };
  const ban_id = expect.any(String) as string;
  expect((await list(app)).body).toEqual({
    status: 'success',
    data: [
      { ...nothing, ban_id, created_at, kind: 'network', network: '2001:db8::/32' },
      { ...nothing, ban_id, created_at, kind: 'hardware' },
      {
        ...nothing,
        ban_id,
        created_at,
        kind: 'user',
        user_id: expect.stringMatching(/^usr_/) as string,
        reason: 'a',
        expires_at,
      },
    ],
    next_cursor: null,
  });
});

test('omit lifted bans', async () => {
  const app = await newApp(api);
  const first = await ban(api, app, { kind: 'network', network: '203.0.113.1' });
  const second = await ban(api, app, { kind: 'network', network: '203.0.113.1' });
  expect(second).not.toBe(first);
  await lift(api, app, first);
  expect((await list(app)).body.data.map(({ ban_id }) => ban_id)).toEqual([second]);
});

test('APPLICATION_NOT_FOUND is the same for another developer’s and an absent one', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const foreign = await list({ app_id: app.app_id, token: other.token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  const absent = await list({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', token: other.token });
  expect(comparable(absent)).toEqual(comparable(foreign));
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?limit=x', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
  ['?kind=user', 'query/kind'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  expectFaults(await list(await newApp(api), query), pointer);
});
