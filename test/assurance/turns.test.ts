import { request, type ClientRequest } from 'node:http';
import { expect, test } from 'vitest';
import { connectTo } from '../support/database.ts';
import { newApp, newDeveloper, type App } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
const { api } = service;

const extend = (app: App, what: string, headers: Record<string, string> = {}) =>
  api.post(
    `/api/v2/dev/apps/${app.app_id}/${what}/extend`,
    { all: true, days: 1 },
    { token: app.token, headers },
  );

test('an import whose client sends slowly keeps no other developer from changing many users', async () => {
  const [slow, other] = [await newApp(api), await newApp(api)];
  const statuses: number[] = [];
  const begin = (): ClientRequest => {
    const sent = request(`${api.baseUrl}/api/v2/dev/apps/${slow.app_id}/users/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${slow.token}`, 'content-type': 'text/csv' },
    });
    sent.on('error', () => {}).on('response', ({ statusCode }) => statuses.push(statusCode!));
    sent.write('username\n');
    return sent;
  };
  let sent = begin();
  // It is under way once its own developer is refused, unless the question comes before it.
  await expect
    .poll(async () => {
      if (statuses.pop() !== undefined) sent = begin();
      return (await extend(slow, 'users')).status;
    })
    .toBe(429);
  expect((await extend(other, 'users')).status).toBe(200);

  sent.end('late\n');
  await expect.poll(() => statuses).toEqual([201]);
});

test.each(['licenses', 'users'])(
  'calls on many %s that wait for their turn with an Idempotency-Key leave connections to others',
  async (what) => {
    const apps = await Promise.all(Array.from({ length: 14 }, () => newApp(api)));
    const { token } = await newDeveloper(api);
    const database = await connectTo(service.databaseUrl);
    await database.query('begin');
    await database.query('select 1 from applications for update');
    const statuses: number[] = [];
    const waiting = apps.map(async (app) => {
      statuses.push((await extend(app, what, { 'idempotency-key': 'key' })).status);
    });
    await expect.poll(() => statuses.length).toBeGreaterThan(8);
    // Who finds others waiting may be asked to come again; what has its turn may have lost patience with us.
    for (const status of statuses) expect([200, 429, 503]).toContain(status);
    expect((await api.call('GET', '/api/v2/dev/me', undefined, { token })).status).toBe(200);
    expect(service.database.connections().shared.busy).toBeLessThan(8);
    await database.query('rollback');
    await Promise.all(waiting);
  },
);
