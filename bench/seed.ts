import { hash } from '@node-rs/argon2';
import type pg from 'pg';
import { loadKeys } from '../src/foundation/installation-keys/installation-keys.ts';
import { systemClock } from '../src/platform/clock.ts';
import { openDatabase } from '../src/platform/database/index.ts';
import { createKeyring } from '../src/platform/keyring.ts';
import { createLogger } from '../src/platform/logger.ts';
import { systemRandom } from '../src/platform/random.ts';
import * as data from './data.ts';
import { deviceOf } from './devices.ts';
import * as tables from './tables.ts';

const LICENSES_A_STATEMENT = 5_000;
/** As src/foundation/passwords does it. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Fills a migrated database: users, subscriptions, sessions and license keys.
 * @param databaseUrl the service's own
 * @param masterKey the service's own, so that both have the same data keys
 * @param population whose application exists already
 * @returns the stored hash of every user's password
 */
export async function seed(
  databaseUrl: string,
  masterKey: Buffer,
  { app, sessions, licenses, devices = false }: data.Population,
): Promise<string> {
  const database = await openDatabase({
    databaseUrl,
    dataDir: '',
    logger: createLogger('warn'),
    statementTimeoutMs: 0,
  });
  const { knex, pool } = database;

  async function onConnection(work: (client: pg.ClientBase) => Promise<void>): Promise<void> {
    const client = await pool.connect();
    try {
      await tables.trusted(client, () => work(client));
    } finally {
      client.release();
    }
  }

  try {
    const keyring = createKeyring([masterKey], systemRandom);
    const keys = await loadKeys({ knex, keyring, clock: systemClock, random: systemRandom });
    const passwordHash = await hash(data.PASSWORD, ARGON2);
    const machines = Array.from({ length: data.MACHINES }, (_, machine) => data.hwidOf(machine));
    const machineDigests = machines.map((hwid) => keys.hwidDigest(app.app_id, hwid));
    const rows = { appId: app.app_id, sessions, passwordHash, machineDigests };

    const license = (number: number) => {
      const licenseKey = data.licenseKeyOf(number);
      const license_id = `lic_01kb${String(number).padStart(22, '0')}`;
      return {
        license_id,
        key_digest: keys.licenseDigest(licenseKey.replaceAll('-', '')),
        key_sealed: keyring.seal(Buffer.from(licenseKey), `license-key:${license_id}`),
      };
    };
    for (let start = 0; start < licenses; start += LICENSES_A_STATEMENT) {
      const length = Math.min(LICENSES_A_STATEMENT, licenses - start);
      const batch = Array.from({ length }, (_, index) => license(start + index));
      await tables.insertLicenseKeys(knex, app.app_id, batch);
    }
    await Promise.all([
      onConnection(async (client) => {
        await tables.insertSessions(client, rows);
        if (devices)
          await tables.insertDevices(
            client,
            rows,
            machines.map((_, machine) => deviceOf(machine)),
          );
      }),
      onConnection(async (client) => {
        await tables.insertUsers(client, rows);
        await tables.insertSubscriptions(client, rows);
      }),
    ]);
    await pool.query('vacuum (analyze)');
    await pool.query('checkpoint');
    return passwordHash;
  } finally {
    await database.close();
  }
}
