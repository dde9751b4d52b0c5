import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { loadConfig, type Config } from '../../src/config/config.ts';
import type { Logger } from '../../src/platform/logger.ts';
import { startService, type RunningService } from '../../src/app/service.ts';
import { atFileEnd } from './at-file-end.ts';
import { Api } from './api.ts';
import { TestClock } from './clock.ts';
import { createTestDatabase } from './database.ts';
import { knownHashes } from './known-hashes.ts';
import { temporaryFolder } from './processes.ts';
import { testLogger } from './test-logger.ts';

/** The master key of every test service, because services on one database must share it. */
export const MASTER_KEY = randomBytes(32).toString('base64');

/** The administrator's token of every test service. */
export const ADMIN_TOKEN = randomBytes(32).toString('hex');

/** Tests send more requests a minute than one address may. Tests of the limit set their own. */
export const UNLIMITED = { RATE_LIMIT: '1000000/60' };

/**
 * Longer than anything takes on a busy machine. As in production, the timeout of a statement is shorter than that of a
 * request.
 */
const DEADLINE_MS = 60_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Later than any test ends. */
const NEVER_MS = 86_400_000;

/**
 * The settings of a test service, on a free port.
 * @param environment overrides settings, and names the database and the data folder
 */
export function testConfig(
  environment: Readonly<Record<'DATABASE_URL' | 'DATA_DIR', string>> & Readonly<Record<string, string>>,
): Config {
  return loadConfig({ ...UNLIMITED, PORT: '0', MASTER_KEY, ADMIN_TOKEN, ...environment });
}

interface TestOptions {
  readonly hashing?: 'once' | 'each';
  readonly deadlineMs?: number;
  readonly statementTimeoutMs?: number;
  readonly heartbeatTickMs?: number;
  readonly housekeeping?: boolean;
  readonly logger?: Logger;
}

export interface TestService extends RunningService {
  readonly api: Api;
  readonly clock: TestClock;
  readonly databaseUrl: string;
  /**
   * The mails sent so far, oldest first. They are sent after the response, so poll for them. Any service on a database
   * may send a mail, so give them one `DATA_DIR`.
   */
  mailbox(): Promise<readonly Email[]>;
}

/**
 * Starts a whole service in this process, on a free port, with its own database and data folder, and a clock that the
 * test advances. It stops after the last test of the file.
 * @param environment overrides settings
 * @param deadlineMs the timeout of a request, long by default because tests hold requests
 * @param statementTimeoutMs the timeout of a statement, long by default because a busy machine stalls it
 * @param heartbeatTickMs a fifteenth of the time between two heartbeats of a stream
 * @param housekeeping whether its first round runs; without it, tests that advance the clock run the chores alone
 * @param hashing `once` computes each password's hash once per run, `each` computes every one
 */
export async function startTestService(
  environment: Record<string, string> = {},
  {
    hashing = 'once',
    deadlineMs = DEADLINE_MS,
    statementTimeoutMs = STATEMENT_TIMEOUT_MS,
    heartbeatTickMs,
    housekeeping = true,
    logger = testLogger,
  }: TestOptions = {},
): Promise<TestService> {
  const clock = new TestClock();
  const databaseUrl = environment['DATABASE_URL'] ?? (await createTestDatabase());
  const dataDir = environment['DATA_DIR'] ?? (await temporaryFolder(atFileEnd));
  const config = testConfig({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir, ...environment });
  const service = await startService(config, logger, {
    clock,
    // It has no other way to detect that a test advanced the clock.
    processorPauseMs: 500,
    // Its next round would fall somewhere into a test, on a slow machine only. Tests of chores run them.
    housekeepingPauseMs: NEVER_MS,
    housekeeping,
    heartbeatTickMs,
    // Idle connections of the tests' client will send no more requests.
    lingerMs: 0,
    deadlineMs,
    statementTimeoutMs,
    ...(hashing === 'once' && { argon2: knownHashes }),
  });
  atFileEnd(() => service.stop());
  const mailbox = () => readMails(join(dataDir, 'mail'));
  return { ...service, api: new Api(service.baseUrl), clock, databaseUrl, mailbox };
}

/** Starts a service that has lost the database, with the time limits of production, which end its attempts. */
export async function startWithLostDatabase(databaseUrl: string, deadlineMs?: number): Promise<TestService> {
  const service = await startTestService(
    { DATABASE_URL: databaseUrl },
    { statementTimeoutMs: 2_000, ...(deadlineMs !== undefined && { deadlineMs }) },
  );
  await service.database.close();
  return service;
}

/** The mails in a folder, in the order of their names. */
export async function readMails(folder: string): Promise<readonly Email[]> {
  const names = await readdir(folder).catch(() => []);
  const mails = names.filter((name) => name.endsWith('.eml') && !name.startsWith('.')).sort();
  return Promise.all(mails.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))));
}
