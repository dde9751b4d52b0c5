import { expect, test } from 'vitest';
import { createLogger } from '../../../src/platform/logger.ts';
import { startService } from '../../../src/app/service.ts';
import { Api } from '../../support/api.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { createTestDatabase } from '../../support/database.ts';
import { ban, newApp, newHwid, newNonce, newUser, signed } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { testConfig } from '../../support/service.ts';

const DATABASE_URL = await createTestDatabase();

/** A node whose machine's clock is ahead. */
async function startNode(aheadMs: number): Promise<Api> {
  const config = testConfig({ DATABASE_URL, DATA_DIR: await temporaryFolder(atFileEnd) });
  const service = await startService(config, createLogger('silent'), {
    machineClock: { now: () => new Date(Date.now() + aheadMs) },
    lingerMs: 0,
  });
  atFileEnd(() => service.stop());
  return new Api(service.baseUrl);
}

const [right, ahead] = [await startNode(0), await startNode(300_000)];

test('health reports a clock that is off by more than 5 s, and the node works', async () => {
  expect((await right.health()).body.parts).not.toHaveProperty('clock');
  const { status, body } = await ahead.health();
  expect(status).toBe(200);
  expect(body.parts).toMatchObject({ clock: { status: 'skewed', skew_seconds: 300 } });
  expect(Math.abs(Date.parse(body.timestamp!) - Date.now())).toBeLessThan(60_000);
  const metrics = await (await fetch(`${ahead.baseUrl}/metrics`)).text();
  expect(Number(/^latchkey_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1])).toBeCloseTo(300, 0);
});

test('a node that is 300 s ahead accepts signed logins, and no ban ends early', async () => {
  const app = await newApp(right);
  const user = await newUser(right, app);
  for (const api of [right, ahead]) {
    const body = { app_id: app.app_id, ...user, nonce: newNonce() };
    expect((await api.loginV2(...signed(app, body, { at: new Date() }))).status).toBe(200);
  }
  const expires_at = new Date(Date.now() + 120_000).toISOString();
  await ban(right, app, { kind: 'user', username: user.username, expires_at });
  for (const api of [right, ahead]) {
    const response = await api.login(app.with({ ...user, hwid: newHwid() }));
    expect(response).toMatchObject({ status: 403, body: { code: 'USER_BANNED' } });
  }
});
