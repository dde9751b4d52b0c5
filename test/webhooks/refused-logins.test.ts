import { expect, test } from 'vitest';
import type { components } from '../../generated/types.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { newApp, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { startReceiver } from './support/receiver.ts';
import { LOOPBACK, newWebhook } from './support/webhooks.ts';

type Schemas = components['schemas'];

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

  const { user_id } = (await api.verify({ app_id: app.app_id, token: session.token })).body;
  const code = 'INVALID_CREDENTIALS';
  // Those that are refused before and after the service records are two events.
  const received = () => receiver.received.map(({ body }) => JSON.parse(body) as Schemas['ApplicationEvent']);
  const amounts = () => received().map(({ data }) => Number(data['amount']));
  await expect.poll(() => amounts().reduce((sum, amount) => sum + amount, 0)).toBe(5);
  expect(amounts().length).toBeLessThanOrEqual(2);
  for (const event of received())
    expect(event).toMatchObject({ type: 'login.refused', user_id, data: { code } });
  const path = `/api/v2/dev/apps/${app.app_id}/events?type=login.refused&user_id=${user_id}`;
  const { body } = await api.call<Schemas['ApplicationEventList']>('GET', path, undefined, app);
  expect(new Set(body.data.map(({ id }) => id))).toEqual(new Set(receiver.ids()));
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
