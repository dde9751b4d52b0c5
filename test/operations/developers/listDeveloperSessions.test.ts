import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import type { CallOptions } from '../../support/api.ts';
import { newBrowserSession } from '../../support/browser-session.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectFaults } from '../support/errors.ts';
import { newApiToken } from '../support/tokens.ts';

const { api, clock, services } = await startTestService();

const list = (as: CallOptions, query = '') =>
  api.call<components['schemas']['DeveloperSessionList']>(
    'GET',
    `/api/v2/dev/sessions${query}`,
    undefined,
    as,
  );

test('lists the sessions of browsers and of bearer tokens, newest first', async () => {
  const developer = await newDeveloper(api);
  clock.advance(SECOND);
  const browser = await newBrowserSession(api, developer);
  const { body } = await list({ headers: { ...browser.headers, 'user-agent': 'other' } });
  expect(body.data).toMatchObject([
    {
      kind: 'browser',
      is_current: true,
      address: '127.0.0.1',
      user_agent: expect.any(String),
      last_used_at: null,
    },
    { kind: 'api', is_current: false, address: '127.0.0.1', last_used_at: null },
  ]);
  const [first, second] = body.data;
  expect(first!.created_at).toBe(clock.now().toISOString());
  expect(Date.parse(first!.expiry)).toBe(clock.now().getTime() + DAY);
  expect(first!.created_at > second!.created_at).toBe(true);
  const asApi = await list(developer);
  expect(asApi.body.data.map(({ is_current }) => is_current)).toEqual([false, true]);
  const { token } = await newApiToken(api, developer, ['auth:dev']);
  expect((await list({ token })).body.data.map(({ is_current }) => is_current)).toEqual([false, false]);
});

test('shows when a session was last used', async () => {
  const developer = await newDeveloper(api);
  await list(developer);
  const usedAt = clock.now().toISOString();
  await services.lastUses.writeAll();
  clock.advance(SECOND);
  expect((await list(developer)).body.data[0]!.last_used_at).toBe(usedAt);
});

test('keeps the first 256 characters of a User-Agent', async () => {
  const { email, password } = await newDeveloper(api);
  const headers = { 'user-agent': 'x'.repeat(300) };
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password }, { headers });
  expect((await list(body)).body.data[0]!.user_agent).toBe('x'.repeat(256));
});

test('has pages, without expired and ended sessions', async () => {
  const developer = await newDeveloper(api);
  const { email, password } = developer;
  clock.advance(DAY - SECOND);
  const tokens: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
    tokens.push(body.token);
  }
  await api.call('POST', '/api/v2/dev/logout', undefined, { token: tokens[0]! });
  clock.advance(SECOND);
  const token = tokens[1]!;
  const first = await list({ token }, '?limit=1');
  const second = await list({ token }, `?limit=1&cursor=${first.body.next_cursor}`);
  expect(second.body.next_cursor).toBeNull();
  const all = [...first.body.data, ...second.body.data];
  expect(all.map(({ is_current }) => is_current)).toEqual([false, true]);
  expectFaults(await list({ token }, '?cursor=nonsense'), 'query/cursor');
  await api.call('DELETE', '/api/v2/dev/sessions', undefined, { token });
  expect((await list({ token })).body.data).toHaveLength(1);
});
