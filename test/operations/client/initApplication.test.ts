import { describe, expect, test } from 'vitest';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';

const { api } = await startTestService();
const developer = await newDeveloper(api);
const HASH = 'ab'.repeat(32);

test('names the application and a new run of the program', async () => {
  const app = await newApp(api, developer);
  const first = await api.init(app.with({}));
  expect(first.status).toBe(200);
  expect(first.body).toEqual({
    status: 'success',
    session_id: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    app_name: expect.stringMatching(/^App-/),
    status_code: 'active',
  });
  const second = await api.init(app.with({}));
  expect(second.body['session_id']).not.toBe(first.body['session_id']);
});

test('returns a session id that is not a login session', async () => {
  const app = await newApp(api, developer);
  const { body } = await api.init(app.with({}));
  const token = String(body['session_id']);
  expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
});

describe('INVALID_APP_CREDENTIALS', () => {
  test('is the same for an unknown application, a wrong secret and a deleted application', async () => {
    const app = await newApp(api, developer);
    const gone = await newApp(api, developer);
    await api.call('DELETE', `/api/v2/dev/apps/${gone.app_id}`, undefined, { token: developer.token });
    const wrong = await api.init({ app_id: app.app_id, secret: `${app.secret}x` });
    expectError(wrong, 401, 'INVALID_APP_CREDENTIALS');
    const unknown = await api.init({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c', secret: app.secret });
    const deleted = await api.init(gone.with({}));
    expect(comparable(unknown)).toEqual(comparable(wrong));
    expect(comparable(deleted)).toEqual(comparable(wrong));
    expect([...unknown.headers.keys()]).toEqual([...wrong.headers.keys()]);
  });

  test.each([
    ['of another application', (_own: string, other: string) => other],
    ['in another case', (own: string) => own.toUpperCase()],
    ['cut by a character', (own: string) => own.slice(0, -1)],
    ['with a space after it', (own: string) => `${own} `],
  ])('for a secret %s', async (_how, secretOf) => {
    const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
    const response = await api.init({ app_id: app.app_id, secret: secretOf(app.secret, other.secret) });
    expectError(response, 401, 'INVALID_APP_CREDENTIALS');
  });

  test('precedes APPLICATION_INACTIVE: without the secret the status is not revealed', async () => {
    const app = await newApp(api, developer);
    await app.patch({ status: 'disabled' });
    expectError(await api.init({ app_id: app.app_id, secret: 'wrong' }), 401, 'INVALID_APP_CREDENTIALS');
    expectError(await api.init(app.with({})), 401, 'APPLICATION_INACTIVE');
    await app.patch({ status: 'active' });
    expect((await api.init(app.with({}))).status).toBe(200);
  });
});

test('a paused application returns 200 with its status, for any version', async () => {
  const app = await newApp(api, developer);
  await app.patch({ status: 'paused', minimum_version: '9.0.0', download_url: 'https://example.com/new' });
  const { status, body } = await api.init(app.with({ version: '1.0.0' }));
  expect(status).toBe(200);
  expect(body).toMatchObject({ status_code: 'paused' });
  expect(body).not.toHaveProperty('download_url');
});

describe('update_required', async () => {
  const app = await newApp(api, developer);
  await app.patch({ minimum_version: '1.4.0', download_url: 'https://example.com/new' });

  test.each(['1.3.9', '1.4.0-rc.1', '1.4.0-0', '1', '1.3', '0.99.99', 'v1.3', 'latest', '1.4.0.0', '-1'])(
    'for version %s',
    async (version) => {
      const { status, body } = await api.init(app.with({ version }));
      expect(status).toBe(200);
      expect(body).toMatchObject({ status_code: 'update_required', download_url: 'https://example.com/new' });
    },
  );

  test.each(['1.4.0', '1.4', 'v1.4.0', '2', '1.10.0', '1.4.1-rc.1', '1.4.0+build.7', '999999999.0.0'])(
    'not for version %s',
    async (version) => {
      const { body } = await api.init(app.with({ version }));
      expect(body).toMatchObject({ status_code: 'active' });
      expect(body).not.toHaveProperty('download_url');
    },
  );

  test('not without a version or a minimum', async () => {
    expect((await api.init(app.with({}))).body).toMatchObject({ status_code: 'active' });
    const other = await newApp(api, developer);
    expect((await api.init(other.with({ version: 'x' }))).body).toMatchObject({ status_code: 'active' });
  });

  test('has no download_url if the developer set none', async () => {
    const other = await newApp(api, developer);
    await other.patch({ minimum_version: '2' });
    const { body } = await api.init(other.with({ version: '1.9' }));
    expect(body).toMatchObject({ status_code: 'update_required' });
    expect(body).not.toHaveProperty('download_url');
  });
});

describe('integrity_check', async () => {
  const app = await newApp(api, developer);
  await app.patch({ integrity_check: true, executable_hashes: [HASH] });

  test.each([undefined, 'cd'.repeat(32), HASH.slice(0, -1), `${HASH}0`, ' '])(
    'INTEGRITY_FAILED for %s',
    async (executable_hash) => {
      const response = await api.init(app.with(executable_hash === undefined ? {} : { executable_hash }));
      expectError(response, 403, 'INTEGRITY_FAILED');
    },
  );

  test.each([HASH, HASH.toUpperCase()])('accepts %s', async (executable_hash) => {
    expect((await api.init(app.with({ executable_hash }))).status).toBe(200);
  });

  test('an empty list refuses everything, and without the switch everything is accepted', async () => {
    const other = await newApp(api, developer);
    await other.patch({ integrity_check: true });
    expectError(await api.init(other.with({ executable_hash: HASH })), 403, 'INTEGRITY_FAILED');
    await other.patch({ integrity_check: false, executable_hashes: [HASH] });
    expect((await api.init(other.with({ executable_hash: 'other' }))).status).toBe(200);
  });

  test('is checked after the secret', async () => {
    const response = await api.init({ app_id: app.app_id, secret: 'wrong' });
    expectError(response, 401, 'INVALID_APP_CREDENTIALS');
  });
});

test('VALIDATION_FAILED lists every fault', async () => {
  const call = (body: unknown) => api.post('/api/v1/client/init', body);
  expectFaults(await call({}), '/app_id', '/secret');
  expectFaults(await call({ app_id: 1, secret: '', version: null }), '/app_id', '/secret', '/version');
  expectFaults(await call({ app_id: 'a'.repeat(65), secret: 's'.repeat(257) }), '/app_id', '/secret');
  expectFaults(await call([]), '');
  expectFaults(await call('null'), '');
});

test('ignores members that the contract does not name', async () => {
  const app = await newApp(api, developer);
  const response = await api.post('/api/v1/client/init', app.with({ status: 'disabled', extra: { a: [1] } }));
  expect(response.status).toBe(200);
});

test.each(['', undefined])('a missing body is a validation fault (%j)', async (body) => {
  expectError(await api.call('POST', '/api/v1/client/init', body), 400, 'VALIDATION_FAILED');
});
