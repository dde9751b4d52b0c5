import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';
import { loadConfig } from '../../src/config/config.ts';
import { createLogger, type Logger } from '../../src/platform/logger.ts';
import { startService, type RunningService } from '../../src/app/service.ts';
import { atFileEnd } from './at-file-end.ts';
import { Api } from './api.ts';
import { TestClock } from './clock.ts';
import { createTestDatabase } from './database.ts';
import { knownHashes } from './known-hashes.ts';
import { temporaryFolder } from './processes.ts';

/** The master key of every test service: two of them on one database must share it. */
export const MASTER_KEY = randomBytes(32).toString('base64');

/** The administrator's token of every test service. */
export const ADMIN_TOKEN = randomBytes(32).toString('hex');

/** Tests send more in a minute than one address may; those of the limit set their own. */
export const UNLIMITED = { RATE_LIMIT: '1000000/60' };

/** More than a busy machine takes for anything. */
const PATIENCE_MS = 60_000;

interface TestOptions {
  readonly hashing?: 'once' | 'each';
  readonly deadlineMs?: number;
  readonly logger?: Logger;
}

export interface TestService extends RunningService {
  readonly api: Api;
  readonly clock: TestClock;
  readonly databaseUrl: string;
  /**
   * The mails that it has sent so far, the oldest first. They are sent after the response: poll for them. Of services
   * on
   * one database any may send a mail: give them one `DATA_DIR`.
   */
  mailbox(): Promise<readonly Email[]>;
}

/**
 * Starts a whole service in this process, on a free port, with its own database and data folder, under a clock that
 * the
 * test moves. It stops after the last test of the file.
 * @param environment settings that differ
 * @param deadlineMs how long a request may take: tests hold requests for as long as they need
 * @param hashing `once` makes each password's hash once a run; what tests the hashing itself has `each` of them made
 */
export async function startTestService(
  environment: Record<string, string> = {},
  { hashing = 'once', deadlineMs = PATIENCE_MS, logger = createLogger('fatal') }: TestOptions = {},
): Promise<TestService> {
  const clock = new TestClock();
  const databaseUrl = environment['DATABASE_URL'] ?? (await createTestDatabase());
  const dataDir = environment['DATA_DIR'] ?? (await temporaryFolder(atFileEnd));
  const config = loadConfig({
    ...UNLIMITED,
    PORT: '0',
    MASTER_KEY,
    ADMIN_TOKEN,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    ...environment,
  });
  const service = await startService(config, logger, {
    clock,
    // It has no other way to learn of a clock that a test has moved.
    processorPauseMs: 500,
    // Idle connections of the tests' client will send no more requests.
    lingerMs: 0,
    deadlineMs,
    ...(hashing === 'once' && { argon2: knownHashes }),
  });
  atFileEnd(() => service.stop());
  const mailbox = () => readMails(join(dataDir, 'mail'));
  return { ...service, api: new Api(service.baseUrl), clock, databaseUrl, mailbox };
}

/** The mails of a folder that mails are written to, in the order of their names. */
export async function readMails(folder: string): Promise<readonly Email[]> {
  const names = await readdir(folder).catch(() => []);
  const mails = names.filter((name) => name.endsWith('.eml') && !name.startsWith('.')).sort();
  return Promise.all(mails.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))));
}
