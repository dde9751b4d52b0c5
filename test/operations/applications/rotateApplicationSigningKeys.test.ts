import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App, type Developer } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { newTrustedClient } from '../../support/trusted-client.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

type Key = components['schemas']['ApplicationSigningKey'];
type Managed = Pick<App, 'app_id' | 'token'>;

const service = await startTestService();
const { api, clock } = service;

const pathOf = ({ app_id }: Managed) => `/api/v2/dev/apps/${app_id}/signing-keys`;
const rotate = (app: Managed, body: unknown = { force: true }, headers = {}) =>
  api.post<components['schemas']['ApplicationSigningKeyList'] & { not_before?: string }>(
    `${pathOf(app)}/rotate`,
    body,
    { token: app.token, headers },
  );
const keysOf = async (app: Managed) =>
  (await api.call<{ data: Key[] }>('GET', pathOf(app), undefined, app)).body.data;
const inState = (keys: readonly Key[], state: Key['state']) => keys.find((key) => key.state === state)!;

/** The application with a new token, because the previous one may have expired. */
async function withNewToken(app: App, { email, password }: Developer): Promise<Managed> {
  const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  return { app_id: app.app_id, token: body.token };
}

test('the next key signs, and there is another next key', async () => {
  const app = await newApp(api);
  const before = await keysOf(app);
  clock.advance(SECOND);
  const { status, body } = await rotate(app);
  expect([status, body.status]).toEqual([200, 'success']);
  const at = clock.now().toISOString();
  const [signing, next] = [inState(before, 'signing'), inState(before, 'next')];
  expect(body.data).toHaveLength(3);
  expect(body.data).toContainEqual({ ...signing, state: 'previous' });
  expect(body.data).toContainEqual({ ...next, state: 'signing', signing_since: at });
  const created = body.data.at(-1)!;
  expect(created).toMatchObject({
    state: 'next',
    created_at: at,
    signing_since: null,
    retired_at: null,
  });
  expect(before.map(({ kid }) => kid)).not.toContain(created.kid);
  expect(await keysOf(app)).toEqual(body.data);
});

test('programs that have pinned the next key continue to work', async () => {
  const app = await newApp(api);
  const client = await newTrustedClient(api, app, () => clock.now());
  const init = async () => client.call('POST', '/api/v2/client/init', { app_id: app.app_id });
  await rotate(app);
  expect((await init()).status).toBe(200);
  await rotate(app);
  await expect(init()).rejects.toThrow('foreign key');
});

test('after two rotations, two keys are previous ones', async () => {
  const app = await newApp(api);
  const first = inState(await keysOf(app), 'signing');
  clock.advance(SECOND);
  const second = inState((await rotate(app)).body.data, 'signing');
  clock.advance(SECOND);
  const { data } = (await rotate(app)).body;
  const states = Object.fromEntries(data.map(({ kid, state }) => [kid, state]));
  expect(states).toMatchObject({ [first.kid]: 'previous', [second.kid]: 'previous' });
  expect(Object.values(states).sort()).toEqual(['next', 'previous', 'previous', 'signing']);
  expect(data.map(({ created_at }) => created_at)).toEqual(
    data.map(({ created_at }) => created_at).toSorted(),
  );
});

test('NEXT_KEY_TOO_YOUNG until exactly 30 days after the next key was created', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const not_before = new Date(clock.now().getTime() + 30 * DAY).toISOString();
  const before = await keysOf(app);
  for (const body of [{}, { force: false }]) {
    const early = await rotate(app, body);
    expectError(early, 409, 'NEXT_KEY_TOO_YOUNG');
    expect(early.body.not_before).toBe(not_before);
  }
  clock.advance(30 * DAY - 1);
  const later = await withNewToken(app, developer);
  expectError(await rotate(later, {}), 409, 'NEXT_KEY_TOO_YOUNG');
  expect(await keysOf(later)).toEqual(before);
  clock.advance(1);
  expect((await rotate(later, {})).status).toBe(200);
  const again = await rotate(later, {});
  expectError(again, 409, 'NEXT_KEY_TOO_YOUNG');
  expect(again.body.not_before).toBe(new Date(clock.now().getTime() + 30 * DAY).toISOString());
  expect((await auditLog(api, later, '&action=application.signing_key_rotated')).length).toBe(1);
});

test('rotations at once leave one signing key and one next key', async () => {
  const app = await newApp(api);
  const statuses = await Promise.all([rotate(app), rotate(app), rotate(app)]);
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await keysOf(app)).map(({ state }) => state).sort()).toEqual([
    'next',
    'previous',
    'previous',
    'previous',
    'signing',
  ]);
});

test('an application from before signing keys existed gets its keys', async () => {
  const app = await newApp(api);
  const database = await connectTo(service.databaseUrl);
  await database.query('delete from application_keys where app_id = $1', [app.app_id]);
  const { data } = (await rotate(app)).body;
  expect(data.map(({ state }) => state).sort()).toEqual(['next', 'previous', 'signing']);
});

test('is in the audit log with the key that signs now', async () => {
  const app = await newApp(api);
  const { kid } = inState((await rotate(app)).body.data, 'signing');
  expect(await auditLog(api, app, '&action=application.signing_key_rotated')).toMatchObject([
    { app_id: app.app_id, target: app.app_id, data: { kid, forced: true } },
  ]);
});

test('with an Idempotency-Key it happens once', async () => {
  const app = await newApp(api);
  const headers = { 'idempotency-key': 'rotation-1' };
  const first = await rotate(app, { force: true }, headers);
  const second = await rotate(app, { force: true }, headers);
  expect([first.status, second.body]).toEqual([200, first.body]);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await keysOf(app)).toHaveLength(3);
});

test('INSUFFICIENT_SCOPE for tokens that may only write', async () => {
  const app = await newApp(api);
  const writer = await newApiToken(api, app, ['read', 'write']);
  expectError(await rotate({ ...app, token: writer.token }), 403, 'INSUFFICIENT_SCOPE');
  expect(await keysOf(app)).toHaveLength(2);
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  const foreign = await rotate({ app_id: app.app_id, token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await rotate({ app_id: 'app_absent', token }))).toEqual(comparable(foreign));
  expect(await keysOf(app)).toHaveLength(2);
});

test('VALIDATION_FAILED', async () => {
  const app = await newApp(api);
  for (const force of ['true', 1, null]) expectFaults(await rotate(app, { force }), '/force');
  expect(await keysOf(app)).toHaveLength(2);
});
