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

test('a slow import does not delay bulk operations of other developers', async () => {
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
  // The import is in progress once its own developer is refused, unless that request arrives before it.
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
  'queued bulk operations on %s with an Idempotency-Key leave connections to others',
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
    // With others in the queue, the response may be 429; an operation that has started may have timed out on our lock.
    for (const status of statuses) expect([200, 429, 503]).toContain(status);
    expect((await api.call('GET', '/api/v2/dev/me', undefined, { token })).status).toBe(200);
    expect(service.database.connections().shared.busy).toBeLessThan(8);
    await database.query('rollback');
    await Promise.all(waiting);
  },
);
