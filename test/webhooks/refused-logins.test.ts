import { expect, test } from 'vitest';
import type { components } from '../../generated/types.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newApp, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startReceiver } from './support/receiver.ts';
import { LOOPBACK, newWebhook } from './support/webhooks.ts';

test('a webhook gets refused logins together, and developers find them among the events of a user', async () => {
  const { api, services } = await startTestService(LOOPBACK);
  const app = await newApp(api);
  const receiver = await startReceiver();
  await newWebhook(api, app, receiver.url, ['login.refused']);
  const user = await newUser(api, app);
  const session = (await api.login(app.with(user))).body;
  const wrong = app.with({ ...user, password: 'a wrong password' });
  for (let n = 0; n < 5; n += 1) expect((await api.login(wrong)).status).toBe(401);
  await services.refusedLogins.flush();

  await expect.poll(() => receiver.received.length).toBe(1);
  const { user_id } = (await api.verify({ app_id: app.app_id, token: session.token })).body;
  const expected = { type: 'login.refused', user_id, data: { code: 'INVALID_CREDENTIALS', amount: 5 } };
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject(expected);
  const path = `/api/v2/dev/apps/${app.app_id}/events?type=login.refused&user_id=${user_id}`;
  const { body } = await api.call<components['schemas']['ApplicationEventList']>('GET', path, undefined, app);
  expect(body.data).toMatchObject([expected]);
});

test('a service that stops records what it has collected', async () => {
  const DATABASE_URL = await createTestDatabase();
  const service = await startTestService({ DATABASE_URL });
  const { api } = service;
  const app = await newApp(api);
  const user = await newUser(api, app);
  await service.services.refusedLogins.flush();
  await api.login(app.with({ ...user, hwid: 'another machine' }));
  await service.stop();
  const database = await connectTo(DATABASE_URL);
  const { rows } = await database.query(`select app_id, data from events where type = 'login.refused'`);
  expect(rows).toEqual([{ app_id: app.app_id, data: { code: 'HWID_MISMATCH', amount: 1 } }]);
});
