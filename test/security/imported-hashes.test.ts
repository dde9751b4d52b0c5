import { expect, test } from 'vitest';
import { newApp, newUser } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const { api } = await startTestService({}, { hashing: 'each' });

/** A bcrypt hash that takes many times as long to verify as one of ours. */
const COSTLY = '$2b$11$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
/** More than the queue admits on any machine. */
const LOGINS = 70;

test('logins of imported users with costly hashes do not block other users', async () => {
  const [costly, other] = [await newApp(api), await newApp(api)];
  const user = await newUser(api, other);
  const names = Array.from({ length: LOGINS }, (_, n) => `user${n}`);
  const table = ['username,password_hash', ...names.map((name) => `${name},${COSTLY}`)].join('\n');
  const path = `/api/v2/dev/apps/${costly.app_id}/users/import`;
  const imported = await api.call('POST', path, table, {
    token: costly.token,
    headers: { 'content-type': 'text/csv' },
  });
  expect(imported.status).toBe(201);

  const statuses: number[] = [];
  const logins = names.map(async (username) => {
    const { status } = await api.login(costly.with({ username, password: 'not this one', hwid: 'machine' }));
    statuses.push(status);
  });
  // The queue has no space for another of these.
  await expect.poll(() => statuses).toContain(429);
  expect((await api.login(other.with(user))).status).toBe(200);
  // It did not wait for the logins before it.
  expect(statuses.length).toBeLessThan(LOGINS);
  await Promise.all(logins);
  expect(statuses).toContain(401);
}, 60_000);
