import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

type Schemas = components['schemas'];
type Key = Schemas['ApplicationSigningKey'];
type Managed = Pick<App, 'app_id' | 'token'>;

const service = await startTestService();
const { api, clock } = service;

const pathOf = ({ app_id }: Managed) => `/api/v2/dev/apps/${app_id}/signing-keys`;
const retire = (app: Managed, kid: string) =>
  api.call<Schemas['ApplicationSigningKeyList']>('DELETE', `${pathOf(app)}/${kid}`, undefined, {
    token: app.token,
  });
const rotate = (app: Managed, force = true) =>
  api.post<{ data: Key[]; not_before?: string }>(`${pathOf(app)}/rotate`, { force }, { token: app.token });
const keysOf = async (app: Managed) =>
  (await api.call<{ data: Key[] }>('GET', pathOf(app), undefined, app)).body.data;
const inState = (keys: readonly Key[], state: Key['state']) => keys.find((key) => key.state === state)!;

test('a previous key is retired, and its private part deleted', async () => {
  const app = await newApp(api);
  await rotate(app);
  const before = await keysOf(app);
  const previous = inState(before, 'previous');
  clock.advance(SECOND);
  const { status, body } = await retire(app, previous.kid);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    data: before.map((key) =>
      key === previous ? { ...key, state: 'retired', retired_at: clock.now().toISOString() } : key,
    ),
  });
  expect(await keysOf(app)).toEqual(body.data);
  const database = await connectTo(service.databaseUrl);
  const { rows } = await database.query(
    'select kid from application_keys where app_id = $1 and private_key_sealed is null',
    [app.app_id],
  );
  expect(rows).toEqual([{ kid: previous.kid }]);
});

test('another key replaces a next key, and must become as old', async () => {
  const app = await newApp(api);
  const before = await keysOf(app);
  const [signing, next] = [inState(before, 'signing'), inState(before, 'next')];
  clock.advance(SECOND);
  const { data } = (await retire(app, next.kid)).body;
  expect(data).toHaveLength(3);
  expect(data).toContainEqual(signing);
  expect(data).toContainEqual({ ...next, state: 'retired', retired_at: clock.now().toISOString() });
  const created = inState(data, 'next');
  expect(created).toMatchObject({ created_at: clock.now().toISOString(), signing_since: null });
  expect(created.kid).not.toBe(next.kid);
  const early = await rotate(app, false);
  expectError(early, 409, 'NEXT_KEY_TOO_YOUNG');
  expect(early.body.not_before).toBe(new Date(clock.now().getTime() + 30 * DAY).toISOString());
  expect(inState((await rotate(app)).body.data, 'signing').kid).toBe(created.kid);
});

test('APPLICATION_KEY_IN_USE for the signing key, until a rotation', async () => {
  const app = await newApp(api);
  const { kid } = inState(await keysOf(app), 'signing');
  expectError(await retire(app, kid), 409, 'APPLICATION_KEY_IN_USE');
  await rotate(app);
  expect((await retire(app, kid)).status).toBe(200);
});

test('APPLICATION_KEY_NOT_FOUND for unknown keys, those of other applications, and retired ones', async () => {
  const developer = await newDeveloper(api);
  const [app, other] = [await newApp(api, developer), await newApp(api, developer)];
  const { kid } = inState(await keysOf(app), 'next');
  expectError(await retire(app, 'A'.repeat(43)), 404, 'APPLICATION_KEY_NOT_FOUND');
  expectError(await retire(other, kid), 404, 'APPLICATION_KEY_NOT_FOUND');
  expect((await retire(app, kid)).status).toBe(200);
  expectError(await retire(app, kid), 404, 'APPLICATION_KEY_NOT_FOUND');
  expect(await keysOf(app)).toHaveLength(3);
  expect(await auditLog(api, app, '&action=application.signing_key_retired')).toHaveLength(1);
});

test('is in the audit log', async () => {
  const app = await newApp(api);
  const { kid } = inState(await keysOf(app), 'next');
  await retire(app, kid);
  expect(await auditLog(api, app, '&action=application.signing_key_retired')).toMatchObject([
    { app_id: app.app_id, data: { kid } },
  ]);
});

test('at once with a rotation, a signing key and a next key remain', async () => {
  const app = await newApp(api);
  const { kid } = inState(await keysOf(app), 'next');
  await Promise.all([rotate(app), retire(app, kid)]);
  const states = (await keysOf(app)).map(({ state }) => state);
  for (const state of ['signing', 'next']) expect(states.filter((each) => each === state)).toHaveLength(1);
});

test('INSUFFICIENT_SCOPE for tokens that may only write', async () => {
  const app = await newApp(api);
  const { kid } = inState(await keysOf(app), 'next');
  const writer = await newApiToken(api, app, ['read', 'write']);
  expectError(await retire({ ...app, token: writer.token }, kid), 403, 'INSUFFICIENT_SCOPE');
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one', async () => {
  const app = await newApp(api);
  const before = await keysOf(app);
  const { kid } = inState(before, 'next');
  const { token } = await newDeveloper(api);
  const foreign = await retire({ app_id: app.app_id, token }, kid);
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await retire({ app_id: 'app_absent', token }, kid))).toEqual(comparable(foreign));
  expect(await keysOf(app)).toEqual(before);
});
