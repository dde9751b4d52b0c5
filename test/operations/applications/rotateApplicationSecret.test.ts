import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { createKeyring } from '../../../src/platform/keyring.ts';
import { systemRandom } from '../../../src/platform/random.ts';
import { DAY, SECOND } from '../../support/clock.ts';
import { connectTo, createTestDatabase } from '../../support/database.ts';
import {
  newApp,
  newDeveloper,
  newNonce,
  newSession,
  newUser,
  signed,
  type App,
} from '../../support/fixtures.ts';
import { MASTER_KEY, startTestService } from '../../support/service.ts';
import { untilSigningKeysResealed } from '../../support/signing-keys-resealed.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { boundSignatureOf, signatureOf } from '../../support/response-signature.ts';
import { auditLog } from '../support/tokens.ts';

const service = await startTestService();
const { api, clock } = service;

const pathOf = (appId: string) => `/api/v2/dev/apps/${appId}/rotate-secret`;
const post = (app: Pick<App, 'app_id' | 'token'>, body: unknown, headers = {}) =>
  api.post<components['schemas']['RotateApplicationSecretResult']>(pathOf(app.app_id), body, {
    token: app.token,
    headers,
  });
async function rotate(app: App, overlapSeconds?: number): Promise<string> {
  const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
  return (await post(app, body)).body.secret;
}
const init = async ({ app_id }: App, secret: string) => (await api.init({ app_id, secret })).status;
const untilOf = async (app: App, { token }: { token: string } = app) =>
  (await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, { token })).body[
    'previous_secret_until'
  ];
const inSeconds = (seconds: number) => new Date(clock.now().getTime() + seconds * SECOND).toISOString();

test('the new secret works at once, the old one for a day by default', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const { status, body } = await post(app, {});
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    app_id: app.app_id,
    secret: expect.stringMatching(/^sk_[\w-]{43}$/),
    previous_secret_until: inSeconds(86_400),
  });
  expect(body.secret).not.toBe(app.secret);
  expect(await untilOf(app)).toBe(body.previous_secret_until);
  expect([await init(app, app.secret), await init(app, body.secret)]).toEqual([200, 200]);
  clock.advance(DAY - 1);
  expect(await init(app, app.secret)).toBe(200);
  clock.advance(1);
  expect([await init(app, app.secret), await init(app, body.secret)]).toEqual([401, 200]);
  const { email, password } = developer;
  const session = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
  expect(await untilOf(app, session.body)).toBeNull();
});

test.each([
  [1, 1_000],
  [2_592_000, 30 * DAY],
])('an overlap of %d seconds ends to the millisecond', async (seconds, ms) => {
  const app = await newApp(api);
  await rotate(app, seconds);
  clock.advance(ms - 1);
  expect(await init(app, app.secret)).toBe(200);
  clock.advance(1);
  expect(await init(app, app.secret)).toBe(401);
});

test('without an overlap the old secret is invalid from the response', async () => {
  const app = await newApp(api);
  const { body } = await post(app, { overlap_seconds: 0 });
  expect(body.previous_secret_until).toBeNull();
  expect([await init(app, app.secret), await init(app, body.secret)]).toEqual([401, 200]);
  expect(await untilOf(app)).toBeNull();
});

test('a rotation during an overlap ends the oldest secret', async () => {
  const app = await newApp(api);
  const second = await rotate(app, 1000);
  const third = await rotate(app, 1000);
  expect(await Promise.all([app.secret, second, third].map((secret) => init(app, secret)))).toEqual([
    401, 200, 200,
  ]);
  const fourth = await rotate(app, 0);
  expect(await Promise.all([second, third, fourth].map((secret) => init(app, secret)))).toEqual([
    401, 401, 200,
  ]);
});

test('every operation with a secret in its body accepts both, and no third one', async () => {
  const app = await newApp(api);
  const owner = await newUser(api, app);
  const keys = await app.keys(4);
  const secret = await rotate(app);
  const other = await newApp(api);
  for (const each of [app.secret, secret]) {
    const own = { app_id: app.app_id, secret: each };
    expect((await api.init(own)).status).toBe(200);
    expect((await api.login({ ...own, ...owner })).status).toBe(200);
    expect((await api.activate({ ...own, username: owner.username, license_key: keys.pop()! })).status).toBe(
      200,
    );
    await newUser(api, { ...app, with: (fields) => ({ ...own, ...fields }) });
  }
  const foreign = { app_id: app.app_id, secret: other.secret };
  for (const response of [await api.init(foreign), await api.login({ ...foreign, ...owner })]) {
    expectError(response, 401, 'INVALID_APP_CREDENTIALS');
  }
});

describe('v2', () => {
  const login = async (app: App, secret: string, body: object) =>
    api.loginV2(...signed({ secret }, { app_id: app.app_id, ...body }, { at: clock.now() }));

  test('a response is signed with the secret of its request', async () => {
    const app = await newApp(api);
    const owner = await newUser(api, app);
    const secret = await rotate(app);
    for (const each of [app.secret, secret]) {
      const nonce = newNonce();
      const { status, body } = await login(app, each, { ...owner, nonce });
      expect(status).toBe(200);
      expect(body.signature).toBe(signatureOf({ secret: each }, nonce, body));
      const again = newNonce();
      const verified = await api.verifyV2(
        ...signed(
          { secret: each },
          { app_id: app.app_id, token: body.token, nonce: again },
          { at: clock.now() },
        ),
      );
      expect(verified.body.signature).toBe(signatureOf({ secret: each }, again, verified.body));
    }
    clock.advance(DAY);
    expectError(
      await login(app, app.secret, { ...owner, nonce: newNonce() }),
      401,
      'INVALID_APP_CREDENTIALS',
    );
  });

  test('the response to an unsigned request is signed with the current secret', async () => {
    const app = await newApp(api);
    const { token } = await newSession(api, app);
    const secret = await rotate(app);
    const nonce = newNonce();
    const sent = { app_id: app.app_id, token, nonce };
    const { body } = await api.verifyV2(sent);
    const bound = { operation: 'verifySessionV2', body: JSON.stringify(sent) };
    expect(body.signature).toBe(boundSignatureOf({ secret }, bound, nonce, body));
  });

  test('a nonce is spent for both secrets', async () => {
    const app = await newApp(api);
    const owner = await newUser(api, app);
    const secret = await rotate(app);
    const nonce = newNonce();
    expect((await login(app, app.secret, { ...owner, nonce })).status).toBe(200);
    expectError(await login(app, secret, { ...owner, nonce }), 401, 'NONCE_REUSED');
  });
});

test('sessions continue', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  await rotate(app, 0);
  expect((await api.verify({ app_id: app.app_id, token })).status).toBe(200);
});

test('is in the audit log, without the secret', async () => {
  const app = await newApp(api);
  const secret = await rotate(app, 60);
  const entries = await auditLog(api, app, '&action=application.secret_rotated');
  expect(entries).toMatchObject([
    {
      app_id: app.app_id,
      target: app.app_id,
      data: { overlap_seconds: 60, previous_secret_until: inSeconds(60) },
    },
  ]);
  expect(JSON.stringify(entries)).not.toContain(secret);
});

test('a dump contains neither secret, and after the overlap no trace of the old one', async () => {
  const app = await newApp(api);
  const secret = await rotate(app, 60);
  const database = await connectTo(service.databaseUrl);
  const row = async () =>
    (await database.query('select * from applications where app_id = $1', [app.app_id])).rows[0] as {
      secret_sealed: Buffer;
      previous_secret_sealed: Buffer | null;
      previous_secret_until: Date | null;
    };
  const { secret_sealed: current, previous_secret_sealed: previous } = await row();
  for (const sealed of [current, previous!]) {
    expect(sealed.length).toBeGreaterThan(40);
    for (const each of [app.secret, secret]) expect(sealed.includes(each)).toBe(false);
  }
  clock.advance(60 * SECOND);
  while ((await service.services.applications.clearPreviousSecrets()) > 0);
  expect(await row()).toMatchObject({ previous_secret_sealed: null, previous_secret_until: null });
  expect(await init(app, secret)).toBe(200);
});

test('both secrets outlive a rotation of the master key', async () => {
  const DATABASE_URL = await createTestDatabase();
  const newKey = randomBytes(32);
  const before = await startTestService({ DATABASE_URL });
  const app = await newApp(before.api);
  const rotated = await before.api.post<components['schemas']['RotateApplicationSecretResult']>(
    pathOf(app.app_id),
    {},
    app,
  );
  const during = await startTestService({
    DATABASE_URL,
    MASTER_KEY: `${newKey.toString('base64')},${MASTER_KEY}`,
  });
  while ((await during.services.applications.reseal()) > 0);
  const database = await connectTo(DATABASE_URL);
  const { keyId } = createKeyring([newKey], systemRandom);
  await expect
    .poll(
      async () =>
        (
          await database.query(
            `select substring(secret_sealed from 1 for 8) as a, substring(previous_secret_sealed from 1 for 8) as b
             from applications`,
          )
        ).rows,
    )
    .toEqual([{ a: keyId, b: keyId }]);
  await untilSigningKeysResealed(DATABASE_URL, keyId);
  const after = await startTestService({ DATABASE_URL, MASTER_KEY: newKey.toString('base64') });
  for (const secret of [app.secret, rotated.body.secret]) {
    expect((await after.api.init({ app_id: app.app_id, secret })).status).toBe(200);
  }
});

test('exactly two secrets are tried in every case', async () => {
  const { applications } = service.services;
  const plain = await newApp(api);
  const rotated = await newApp(api);
  await rotate(rotated);
  const requested: Record<string, number> = {};
  for (const appId of [plain.app_id, rotated.app_id, 'app_absent']) {
    for (const right of [true, false]) {
      let times = 0;
      await applications
        .authenticateBy(appId, (secret) => {
          times += 1;
          expect(secret).toHaveLength(46);
          return right;
        })
        .catch(() => {});
      requested[`${appId} ${right}`] = times;
    }
  }
  expect(new Set(Object.values(requested))).toEqual(new Set([2]));
});

test('a proof that accepts everything does not open an absent application', async () => {
  await expect(service.services.applications.withSecret('app_absent')).rejects.toThrow(
    'INVALID_APP_CREDENTIALS',
  );
});

test('VALIDATION_FAILED for invalid overlaps', async () => {
  const app = await newApp(api);
  for (const overlap_seconds of [-1, 2_592_001, 1.5, '60', null]) {
    expectFaults(await post(app, { overlap_seconds }), '/overlap_seconds');
  }
  expect(await init(app, app.secret)).toBe(200);
  expect(await untilOf(app)).toBeNull();
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one', async () => {
  const app = await newApp(api);
  const { token } = await newDeveloper(api);
  const foreign = await post({ app_id: app.app_id, token }, {});
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await post({ app_id: 'app_absent', token }, {}))).toEqual(comparable(foreign));
  expect(await init(app, app.secret)).toBe(200);
});

test('with an Idempotency-Key it happens once', async () => {
  const app = await newApp(api);
  const headers = { 'idempotency-key': 'rotation-1' };
  const first = await post(app, {}, headers);
  const second = await post(app, {}, headers);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect(await init(app, app.secret)).toBe(200);
});
