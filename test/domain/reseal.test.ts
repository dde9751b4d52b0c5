import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKeyring } from '../../src/platform/keyring.ts';
import { systemRandom } from '../../src/platform/random.ts';
import { createResealer } from '../../src/platform/database/reseal.ts';
import type { Api } from '../support/api.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newApp, newSession } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { MASTER_KEY, startTestService } from '../support/service.ts';
import { untilSigningKeysResealed } from '../support/signing-keys-resealed.ts';

const NEW_KEY = randomBytes(32).toString('base64');

test('after a rotation, everything opens without the old master key', async () => {
  const DATABASE_URL = await createTestDatabase();
  const before = await startTestService({ DATABASE_URL });
  const app = await newApp(before.api);
  const [key] = await app.keys(450);
  const session = await newSession(before.api, app);

  const during = await startTestService({ DATABASE_URL, MASTER_KEY: `${NEW_KEY},${MASTER_KEY}` });
  expect((await during.api.init(app.with({}))).status).toBe(200);
  for (const { reseal } of [during.services.applications, during.services.licenses])
    while ((await reseal()) > 0);

  // Housekeeping reseals concurrently and may still be working on a batch.
  const database = await connectTo(DATABASE_URL);
  const sealedUnder = async () =>
    (
      await database.query(
        `select substring(key_sealed from 1 for 8) as key from licenses
         union select substring(secret_sealed from 1 for 8) from applications`,
      )
    ).rows;
  const { keyId } = createKeyring([Buffer.from(NEW_KEY, 'base64')], systemRandom);
  await expect.poll(sealedUnder).toEqual([{ key: keyId }]);
  await untilSigningKeysResealed(DATABASE_URL, keyId);

  const after = await startTestService({ DATABASE_URL, MASTER_KEY: NEW_KEY });
  expect((await after.api.init(app.with({}))).status).toBe(200);
  expect((await after.api.login(app.with(session.owner))).status).toBe(200);
  const redeemed = await after.api.activate(
    app.with({ username: session.owner.username, license_key: key! }),
  );
  expect(redeemed.status).toBe(200);
  const list = await after.api.call(
    'GET',
    `/api/v2/dev/apps/${app.app_id}/licenses?limit=100`,
    undefined,
    app,
  );
  expect(list.status).toBe(200);
});

test('with one key, nothing is read', async () => {
  const keyring = createKeyring([randomBytes(32)], systemRandom);
  const nothing = undefined as never;
  const column = { table: 'licenses', id: 'license_id', column: 'key_sealed', context: () => '' };
  expect(await createResealer(nothing, keyring, column)()).toBe(0);
});

test('a waiting mail is resealed, and is sent without the old key', async () => {
  const DATABASE_URL = await createTestDatabase();
  const withoutMailServer = { DATABASE_URL, SMTP_URL: `smtp://127.0.0.1:${await freePort()}` };
  const before = await startTestService(withoutMailServer);
  const message = {
    to: 'ada@example.com',
    subject: 'Welcome',
    text: 'Open this',
    kind: 'password-reset',
    linkEndsAt: null,
  } as const;
  await before.database.knex.transaction((trx) => before.services.mails.enqueue(trx, message));
  await before.stop();

  const database = await connectTo(DATABASE_URL);
  const sealedUnder = async () =>
    (
      await database.query(
        `select substring(decode(data->>'payload', 'base64') from 1 for 8) as key, data->>'key' = singleton_key as whole
         from pgboss.job where name = 'mails' and state < 'completed'`,
      )
    ).rows;
  const { keyId } = createKeyring([Buffer.from(NEW_KEY, 'base64')], systemRandom);
  const during = await startTestService({ ...withoutMailServer, MASTER_KEY: `${NEW_KEY},${MASTER_KEY}` });
  await expect.poll(sealedUnder).toEqual([{ key: keyId, whole: true }]);
  await untilSigningKeysResealed(DATABASE_URL, keyId);
  await during.stop();

  const after = await startTestService({ DATABASE_URL, MASTER_KEY: NEW_KEY });
  await database.query(`update pgboss.job set start_after = now() where name = 'mails' and state = 'retry'`);
  await expect.poll(after.mailbox).toMatchObject([{ subject: 'Welcome', text: 'Open this\n' }]);
});

test('a repeated request gets its stored response without the old key', async () => {
  const DATABASE_URL = await createTestDatabase();
  const before = await startTestService({ DATABASE_URL });
  const app = await newApp(before.api);
  const generate = (api: Api) =>
    api.post(
      `/api/v2/dev/apps/${app.app_id}/licenses`,
      { amount: 2, tier: 'Standard', duration_days: 30 },
      { token: app.token, headers: { 'idempotency-key': 'once' } },
    );
  const first = await generate(before.api);
  expect(first.status).toBe(201);

  const during = await startTestService({ DATABASE_URL, MASTER_KEY: `${NEW_KEY},${MASTER_KEY}` });
  const { keyId } = createKeyring([Buffer.from(NEW_KEY, 'base64')], systemRandom);
  const database = await connectTo(DATABASE_URL);
  const sealedUnder = async () =>
    (await database.query('select substring(answer_sealed from 1 for 8) as key from idempotency_keys')).rows;
  await expect.poll(sealedUnder).toEqual([{ key: keyId }]);
  await untilSigningKeysResealed(DATABASE_URL, keyId);
  await during.stop();

  const after = await startTestService({ DATABASE_URL, MASTER_KEY: NEW_KEY });
  const again = await generate(after.api);
  expect(again.status).toBe(201);
  expect(again.body).toEqual(first.body);
});
