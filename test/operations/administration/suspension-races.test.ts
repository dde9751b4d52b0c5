import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newDeveloper, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { LOOPBACK, newWebhook } from '../../webhooks/support/webhooks.ts';
import { accountOf, reinstate, suspend } from '../support/developer-accounts.ts';
import { expectError } from '../support/errors.ts';

type Schemas = components['schemas'];

const service = await startTestService(LOOPBACK);
const { api, databaseUrl } = service;
const { api: other } = await startTestService({ ...LOOPBACK, DATABASE_URL: databaseUrl });

/** Another process, which holds what statements lock until its transaction ends. */
async function holding(...statements: readonly (readonly [sql: string, values?: string[]])[]) {
  const client = await connectTo(databaseUrl);
  await client.query('begin');
  for (const [sql, values] of statements) await client.query(sql, values);
  return client;
}

/** Waits until a statement waits for a lock. */
async function untilWaiting(beginning: string): Promise<void> {
  const client = await connectTo(databaseUrl);
  const waiting = () =>
    client.query(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [`${beginning}%`],
    );
  await expect.poll(async () => (await waiting()).rowCount).toBe(1);
  await client.end();
}

describe('an endpoint whose creation and the suspension overlap gets nothing', () => {
  const suspendedAt = async (app: App): Promise<unknown> =>
    (
      (await service.database.knex('webhooks').where({ app_id: app.app_id }).first('suspended_at')) as
        { suspended_at: unknown } | undefined
    )?.suspended_at;

  test('if the suspension commits first', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const suspension = await holding([
      'update developers set suspended_at = now() where developer_id = $1',
      [developer.developerId],
    ]);
    const creation = newWebhook(api, app, 'http://127.0.0.1:9999/', ['user.created']);
    await untilWaiting('select "suspended_at" from "developers"');
    await suspension.query('commit');
    await creation;
    expect(await suspendedAt(app)).toBeInstanceOf(Date);
    await reinstate(api, developer.developerId);
    expect(await suspendedAt(app)).toBeNull();
  });

  test('if the creation commits first', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    // The creation waits after it has inserted the endpoint, before its event.
    const held = await holding(['lock table events in share mode']);
    const creation = newWebhook(api, app, 'http://127.0.0.1:9999/', ['user.created']);
    await untilWaiting('insert into "events"');
    const suspension = suspend(api, developer.developerId);
    await untilWaiting('select "suspended_at", "suspension_reason"');
    await held.query('commit');
    await Promise.all([creation, suspension]);
    expect(await suspendedAt(app)).toBeInstanceOf(Date);
  });
});

describe('a request of the developer that began before the suspension leaves no application enabled', () => {
  const statuses = async (developerId: string): Promise<string[]> =>
    (await service.database.knex('applications').where({ developer_id: developerId }).select('status')).map(
      ({ status }: { status: string }) => status,
    );

  test('if it enables one', async () => {
    const developer = await newDeveloper(api);
    const app = await newApp(api, developer);
    const held = await holding(['lock table events in share mode']);
    const suspension = suspend(api, developer.developerId, { disable_applications: true });
    await untilWaiting('insert into "events"');
    const update = api.call('PATCH', `/api/v2/dev/apps/${app.app_id}`, { status: 'active' }, app);
    await untilWaiting('select pg_advisory_xact_lock');
    await held.query('commit');
    const [{ body }, refused] = await Promise.all([suspension, update]);
    expectError(refused, 403, 'ACCOUNT_SUSPENDED');
    expect(body).toMatchObject({ applications_disabled: 1 });
    expect(await statuses(developer.developerId)).toEqual(['disabled']);
    const { app_id, secret } = app;
    expectError(await api.init({ app_id, secret }), 401, 'APPLICATION_INACTIVE');
    await reinstate(api, developer.developerId);
    expect((await api.init({ app_id, secret })).status).toBe(200);
  });

  test('if it creates one, which the suspension waits for', async () => {
    const developer = await newDeveloper(api);
    await newApp(api, developer);
    const held = await holding(['lock table events in share mode']);
    const creation = api.post('/api/v2/dev/apps', { name: 'Late' }, developer);
    await untilWaiting('insert into "events"');
    // An application that is disabled already has no event, so the suspension waits for the developer only.
    await service.database
      .knex('applications')
      .where({ developer_id: developer.developerId })
      .update({ status: 'disabled' });
    const suspension = suspend(api, developer.developerId, { disable_applications: true });
    await untilWaiting('select "suspended_at", "suspension_reason"');
    await held.query('commit');
    expect((await creation).status).toBe(201);
    expect((await suspension).body).toMatchObject({ applications_disabled: 1 });
    expect(await statuses(developer.developerId)).toEqual(['disabled', 'disabled']);
  });

  test('if it creates one after the suspension', async () => {
    const developer = await newDeveloper(api);
    const held = await holding([
      'update developers set suspended_at = now() where developer_id = $1',
      [developer.developerId],
    ]);
    const creation = api.post('/api/v2/dev/apps', { name: 'Late' }, developer);
    await untilWaiting('update developers set apps');
    await held.query('commit');
    expectError(await creation, 403, 'ACCOUNT_SUSPENDED');
    expect(await statuses(developer.developerId)).toEqual([]);
  });
});

test('several suspensions and reinstatements at once leave one state', async () => {
  const developer = await newDeveloper(api);
  const app = await newApp(api, developer);
  const id = developer.developerId;
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      n % 2 === 0
        ? suspend(n % 4 === 0 ? api : other, id, { disable_applications: true })
        : reinstate(other, id),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
  await reinstate(api, id);
  const { body } = await api.call<Schemas['ApplicationResult']>(
    'GET',
    `/api/v2/dev/apps/${app.app_id}`,
    undefined,
    app,
  );
  expect(body).toMatchObject({ status_code: 'active' });
  expect((await accountOf(api, id)).body).toMatchObject({ account_status: 'active', suspended_at: null });
});
