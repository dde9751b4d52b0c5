import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test, vi } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startService } from '../../src/app/service.ts';
import { connectTo, createTestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/processes.ts';
import { MASTER_KEY } from '../support/service.ts';

/** The number of sockets and listeners of this process. */
const sockets = () => process.getActiveResourcesInfo().filter((name) => /^(TCP|Pipe)/.test(name)).length;

test('a start that fails after it listens stops everything that it started, and reports why', async ({
  onTestFinished,
}) => {
  const databaseUrl = await createTestDatabase();
  const database = await connectTo(databaseUrl);
  const [port, mqttPort] = [await freePort(), await freePort()];
  const config = loadConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: await temporaryFolder(),
    MASTER_KEY,
    PORT: String(port),
    MQTT_PORT: String(mqttPort),
  });
  const listens = async (at: number) => {
    const socket = connect(at, '127.0.0.1');
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return open;
  };
  const before = sockets();

  // The webhook queue is the first with a heartbeat after the service listens. The mail queue starts earlier.
  const HEARTBEAT_MS = 3_000;
  const late = new Error('The queue of jobs failed.');
  const { setInterval: repeat } = globalThis;
  let listened: unknown[] = [];
  let heartbeats = 0;
  const starting = vi.spyOn(globalThis, 'setInterval').mockImplementation(((
    work: () => void,
    delayMs: number,
  ) => {
    if (delayMs !== HEARTBEAT_MS || ++heartbeats === 1) return repeat(work, delayMs);
    listened = [listensNow(port), listensNow(mqttPort)];
    throw late;
  }) as typeof setInterval);
  onTestFinished(() => starting.mockRestore());

  await expect(startService(config, createLogger('fatal'))).rejects.toBe(late);
  expect(heartbeats).toBe(2);
  expect(listened).toEqual([true, true]);
  expect([await listens(port), await listens(mqttPort)]).toEqual([false, false]);
  await expect.poll(sockets).toBeLessThanOrEqual(before);
  const left = () =>
    database.query<{ connections: number; nodes: number }>(
      `select (select count(*)::int from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()) as connections,
         (select count(*)::int from nodes) as nodes`,
    );
  await expect.poll(async () => (await left()).rows).toEqual([{ connections: 0, nodes: 0 }]);

  starting.mockRestore();
  const service = await startService(config, createLogger('fatal'));
  expect(await listens(port)).toBe(true);
  await service.stop();
  expect(await listens(port)).toBe(false);
});

// Runs in another process while this one is suspended: the system accepts connections for a listening server.
function listensNow(port: number): boolean {
  const script =
    `require('node:net').connect(${port}, '127.0.0.1', () => process.exit(0))` +
    `.on('error', () => process.exit(1))`;
  return spawnSync(process.execPath, ['-e', script]).status === 0;
}
