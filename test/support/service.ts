import { randomBytes } from 'node:crypto';
import { afterAll } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { startService, type RunningService } from '../../src/service.ts';
import { Api } from './api.ts';
import { TestClock } from './clock.ts';
import { createTestDatabase } from './database.ts';

/** The master key of every test service: two of them on one database must share it. */
export const MASTER_KEY = randomBytes(32).toString('base64');

/** The administrator's token of every test service. */
export const ADMIN_TOKEN = randomBytes(32).toString('hex');

/** Tests send more in a minute than one address may; those of the limit set their own. */
export const UNLIMITED = { RATE_LIMIT: '1000000/60' };

export interface TestService extends RunningService {
  readonly api: Api;
  readonly clock: TestClock;
  readonly databaseUrl: string;
}

/**
 * Starts a whole service in this process, on a free port and a database of its own, under a clock that the test moves.
 * It stops after the last test of the file.
 * @param environment settings that differ
 */
export async function startTestService(environment: Record<string, string> = {}): Promise<TestService> {
  const clock = new TestClock();
  const databaseUrl = environment['DATABASE_URL'] ?? (await createTestDatabase());
  const config = loadConfig({
    ...UNLIMITED,
    PORT: '0',
    MASTER_KEY,
    ADMIN_TOKEN,
    DATABASE_URL: databaseUrl,
    ...environment,
  });
  const service = await startService(config, createLogger('fatal'), { clock });
  afterAll(() => service.stop());
  return { ...service, api: new Api(service.baseUrl), clock, databaseUrl };
}
