import { expect, test } from 'vitest';
import { sign } from '../concurrency/signed.ts';
import { operations } from '../contract/operations.ts';
import { expectError } from '../operations/support/errors.ts';
import { newApp, newNonce, newUser, unique } from '../support/fixtures.ts';
import { HASHES_AT_ONCE, holdHashes } from '../support/hashing.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService({}, { hashing: 'each' });
const { api, services, clock } = service;
const UNKNOWN = { app_id: `app_${'0'.repeat(26)}`, secret: `sk_${'A'.repeat(43)}` };

test('with a full password queue, known and unknown applications get the same response', async () => {
  const app = await newApp(api);
  const user = await newUser(api, app);
  const release = await holdHashes();
  const logins = Array.from({ length: HASHES_AT_ONCE }, () =>
    api.login(app.with({ ...user, username: unique('user') })),
  );
  const load = () => services.passwords.load();
  await expect.poll(() => load().active + load().waiting).toBe(HASHES_AT_ONCE);
  for (const { app_id, secret } of [app, UNKNOWN]) {
    const { text, headers } = sign({ app_id, secret }, { ...user, nonce: newNonce() }, clock.now().getTime());
    const responses = [
      await api.login({ ...user, app_id, secret }),
      await api.register({ ...user, app_id, secret }),
      await api.post('/api/v2/client/login', text, { headers }),
      await api.post('/api/v2/client/reset-hwid', { ...user, app_id }),
      await api.post('/api/v2/client/register', { ...user, app_id }),
      await api.post('/api/v2/client/login-password', { ...user, app_id }),
    ];
    for (const response of responses) {
      expectError(response, 429, 'TOO_MANY_REQUESTS');
      expect(response.body).toMatchObject({ detail: 'Too many password checks are waiting.' });
      expect(response.headers.get('retry-after')).toBe('1');
      expect(response.headers.has('ratelimit-limit')).toBe(true);
    }
  }
  await release();
  for (const response of await Promise.all(logins)) expectError(response, 401, 'INVALID_CREDENTIALS');
});

test('the test covers every client operation that takes a password', () => {
  const taking = operations.filter(({ hashesPassword }) => hashesPassword);
  expect(taking.map(({ operationId }) => operationId)).toEqual([
    'loginUserV2',
    'resetHwid',
    'registerUserV2',
    'loginWithPassword',
    'registerUser',
    'loginUser',
  ]);
});
