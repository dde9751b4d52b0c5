import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { newApp, newHwid, newUser, unique, type App } from '../support/fixtures.ts';
import { watchWork } from './support/work.ts';

// Test files share modules, so the modules that use the library are loaded again here, with the spy.
vi.mock('@node-rs/argon2', { spy: true });
vi.resetModules();
const argon2 = await import('@node-rs/argon2');
const { startTestService } = await import('../support/service.ts');

const service = await startTestService({}, { hashing: 'each' });
const { api } = service;
const workOf = watchWork(service, argon2);

const register = async (app: App) => {
  const [license_key] = await app.keys(1);
  return app.with({
    username: unique('user'),
    password: 'a good password',
    hwid: newHwid(),
    email: `${unique('user')}@example.com`,
    license_key: license_key!,
  });
};
const activate = async (app: App) => {
  const { username } = await newUser(api, app);
  const [license_key] = await app.keys(1);
  return app.with({ username, license_key: license_key! });
};

/** The lookup of an application: once to check its secret, once under the lock. */
const LOOKUP = /^select \* from "applications" where "app_id" = \$1 and "deleted_at" is null limit \$2$/;

test.each([
  ['register', register, 201],
  ['activate', activate, 200],
])('%s checks the secret once, with an Idempotency-Key too', async (what, bodyFor, status) => {
  const app = await newApp(api);
  const send = (body: object, key?: string) =>
    workOf(() =>
      api.post(`/api/v1/client/${what}`, body, { headers: key ? { 'idempotency-key': key } : {} }),
    );
  // The first request prepares connections and statements.
  await send(await bodyFor(app));
  const plain = await send(await bodyFor(app));
  const [body, key] = [await bodyFor(app), randomUUID()];
  const keyed = await send(body, key);
  for (const work of [plain, keyed]) expect(work.response).toMatchObject({ status });
  const lookups = ({ statements }: typeof plain) => statements.filter((text) => LOOKUP.test(text)).length;
  expect([lookups(plain), lookups(keyed)]).toEqual([2, 2]);

  // A replay requires the current secret, too.
  const again = await send(body, key);
  expect(again.response).toMatchObject({ status, body: { status: 'success' } });
  expect(lookups(again)).toBe(1);

  const path = `/api/v2/dev/apps/${app.app_id}/rotate-secret`;
  await api.post(path, { overlap_seconds: 0 }, { token: app.token });
  const refusal = { status: 401, body: { code: 'INVALID_APP_CREDENTIALS' } };
  expect((await send(body, key)).response).toMatchObject(refusal);
  expect((await send({ ...body, more: 1 }, key)).response).toMatchObject(refusal);
  expect((await send(body, randomUUID())).response).toMatchObject(refusal);
});
