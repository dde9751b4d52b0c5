import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY } from '../../support/clock.ts';
import { newDeveloper, unique } from '../../support/fixtures.ts';
import { flood } from '../../support/hashing.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';

const { api, clock, services } = await startTestService({}, { hashing: 'each' });

const login = (body: object) =>
  api.post<components['schemas']['DeveloperSessionResult']>('/api/v2/dev/login', body);
const apps = (token: string) => api.call('GET', '/api/v2/dev/apps', undefined, { token });

test('returns a new token that is valid for 24 hours, and keeps live ones', async () => {
  const developer = await newDeveloper(api);
  clock.advance(DAY / 2);
  const { status, body } = await login(developer);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    developer_id: developer.developerId,
    token: expect.any(String),
    expiry: inDays(clock, 1),
  });
  expect(body.token).not.toBe((await login(developer)).body.token);
  expect((await apps(developer.token)).status).toBe(200);
  clock.advance(DAY / 2);
  expectError(await apps(developer.token), 401, 'UNAUTHORIZED');
  expect((await apps(body.token)).status).toBe(200);
  clock.advance(DAY / 2);
  const expired = await apps(body.token);
  expectError(expired, 401, 'UNAUTHORIZED');
  expect(expired.headers.get('www-authenticate')).toMatch(/^Bearer /);
  await services.developers.clearExpired();
  expectError(await apps(body.token), 401, 'UNAUTHORIZED');
});

test('finds the account by every case of the address', async () => {
  const { email, password, developerId } = await newDeveloper(api);
  const { body } = await login({ email: email.toUpperCase(), password });
  expect(body.developer_id).toBe(developerId);
});

test('INVALID_CREDENTIALS is the same for an unknown address and a wrong password', async () => {
  const { email, password } = await newDeveloper(api);
  const wrong = await login({ email, password: `${password}!` });
  const unknown = await login({ email: 'unknown@example.com', password });
  expectError(wrong, 401, 'INVALID_CREDENTIALS');
  expect(comparable(unknown)).toEqual(comparable(wrong));
  expect([...unknown.headers.keys()]).toEqual([...wrong.headers.keys()]);
});

test('VALIDATION_FAILED lists every fault', async () => {
  expectFaults(await login({}), '/email', '/password');
  expectFaults(await login({ email: 'unknown', password: '' }), '/email', '/password');
  expectFaults(await login({ email: 'a@b.de', password: 'p'.repeat(129) }), '/password');
});

test('TOO_MANY_REQUESTS with Retry-After when too many passwords are waiting', async () => {
  const developer = await newDeveloper(api);
  const { atOnce, later } = await flood(13, () =>
    // Each for another developer, because failures count separately.
    login({ ...developer, email: `${unique('unknown')}@example.com` }),
  );
  for (const response of later) expectError(response, 401, 'INVALID_CREDENTIALS');
  for (const response of atOnce) {
    expectError(response, 429, 'TOO_MANY_REQUESTS');
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  }
  expect((await login(developer)).status).toBe(200);
});
