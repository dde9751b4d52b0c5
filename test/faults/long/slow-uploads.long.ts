import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { fileOf } from '../../operations/support/files.ts';
import { createTestDatabase } from '../../support/database.ts';
import { newApp } from '../../support/fixtures.ts';
import { spawnService, temporaryFolder } from '../../support/processes.ts';
import { Connection } from '../connection.ts';

const service = await spawnService(
  {
    DATABASE_URL: await createTestDatabase(),
    MASTER_KEY: randomBytes(32).toString('base64'),
    DATA_DIR: await temporaryFolder(afterAll),
    LOG_LEVEL: 'error',
  },
  afterAll,
);
const app = await newApp(service.api);

/** Sends pieces until there is a response. @returns its status and the time */
async function feed(
  length: number,
  piece: number,
  everyMs: number,
): Promise<{ status: number; ms: number; closes: boolean }> {
  const connection = await Connection.open(service.api.baseUrl);
  const began = performance.now();
  connection.write(
    `PUT ${fileOf(app, `f${piece}-${everyMs}`)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.token}\r\n` +
      `Content-Type: application/octet-stream\r\nContent-Length: ${length}\r\n\r\n`,
  );
  const received = connection.response();
  let over = false;
  void received.finally(() => (over = true)).catch(() => {});
  for (let sent = 0; sent < length && !over; sent += piece) {
    connection.write('x'.repeat(Math.min(piece, length - sent)));
    await delay(everyMs);
  }
  const { status, closes } = await received;
  connection.destroy();
  return { status, closes, ms: performance.now() - began };
}

describe('an upload', { timeout: 120_000 }, () => {
  test.concurrent('that makes progress may take longer than other requests', async ({ expect }) => {
    const { status, ms } = await feed(45 * 4_096, 4_096, 1_000);
    expect(status).toBe(200);
    expect(ms).toBeGreaterThan(40_000);
  });

  test.concurrent('that arrives byte by byte gets 408 after 30 s', async ({ expect }) => {
    const { status, ms, closes } = await feed(100_000, 1, 500);
    expect([status, closes]).toEqual([408, true]);
    expect(ms).toBeLessThan(40_000);
  });

  test.concurrent('that stops after a while gets 408 30 s later', async ({ expect }) => {
    const connection = await Connection.open(service.api.baseUrl);
    connection.write(
      `PUT ${fileOf(app, 'stops')} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.token}\r\n` +
        `Content-Type: application/octet-stream\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`,
    );
    const { status, text } = await connection.response();
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([408, 'REQUEST_TIMEOUT']);
  });
});

test('nothing of the failed uploads is stored', async () => {
  const { body } = await service.api.call('GET', `/api/v2/dev/apps/${app.app_id}/files`, undefined, {
    token: app.token,
  });
  expect(body['data']).toMatchObject([{ name: 'f4096-1000', size: 45 * 4_096 }]);
});
