import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditOf, putUserVariable, seen, setVariable } from '../support/variables.ts';

const { api, clock, databaseUrl } = await startTestService();

test('is visible only to this user’s sessions, and overrides the application’s', async () => {
  const app = await newApp(api);
  const [ada, bob] = [await newSession(api, app), await newSession(api, app)];
  await setVariable(api, app, 'score', '0');
  const set = await putUserVariable(api, app, ada.user!.id!, 'score', '4711');
  const now = clock.now().toISOString();
  expect(set.body).toEqual({
    status: 'success',
    name: 'score',
    value: '4711',
    created_at: now,
    updated_at: now,
  });
  expect(await seen(api, app, ada.token)).toEqual({ score: '4711' });
  expect(await seen(api, app, bob.token)).toEqual({ score: '0' });
  expect(await seen(api, app)).toEqual({ score: '0' });
  await putUserVariable(api, app, ada.user!.id!, 'score', '4712');
  expect(await seen(api, app, ada.token)).toEqual({ score: '4712' });
});

test('the user’s event has its name, and the audit log the actor', async () => {
  const app = await newApp(api);
  const { user } = await newSession(api, app);
  await putUserVariable(api, app, user!.id!, 'score', 'a private thing');
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query(
    `select user_id, data from events where app_id = $1 and type = 'user.variable_set'`,
    [app.app_id],
  );
  expect(rows).toEqual([{ user_id: user!.id, data: { name: 'score' } }]);
  expect((await auditOf(api, app))[0]).toMatchObject({
    action: 'user.variable_set',
    data: { name: 'score' },
  });
});

test('QUOTA_EXCEEDED above 256 KiB, separately for each user', async () => {
  const app = await newApp(api);
  const [ada, bob] = [await newSession(api, app), await newSession(api, app)];
  const value = 'x'.repeat(65_536);
  for (let n = 0; n < 4; n += 1) {
    expect((await putUserVariable(api, app, ada.user!.id!, `v${n}`, value)).status).toBe(200);
  }
  expectError(await putUserVariable(api, app, ada.user!.id!, 'v4', 'x'), 403, 'QUOTA_EXCEEDED');
  expect((await putUserVariable(api, app, bob.user!.id!, 'v4', value)).status).toBe(200);
  await setVariable(api, app, 'v4', value);
});

test('VALIDATION_FAILED for a value that cannot be stored', async () => {
  const app = await newApp(api);
  const { user } = await newSession(api, app);
  expectFaults(await putUserVariable(api, app, user!.id!, 'v', 'a\0'), '/value');
  expectFaults(await putUserVariable(api, app, user!.id!, 'v', 'ä'.repeat(32_769)), '/value');
  expectFaults(await putUserVariable(api, app, user!.id!, '-', 'v'), 'path/name');
});

test('USER_NOT_FOUND, also for another application’s; APPLICATION_NOT_FOUND for another developer’s', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { user } = await newSession(api, app);
  expectError(
    await putUserVariable(api, app, 'usr_01kazm6t0hfa8bk4n2q7r9s1vx', 'v', 'v'),
    404,
    'USER_NOT_FOUND',
  );
  expectError(await putUserVariable(api, other, user!.id!, 'v', 'v'), 404, 'USER_NOT_FOUND');
  const foreign = await putUserVariable(api, { ...app, token: other.token }, user!.id!, 'v', 'v');
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
});
