import { hash } from '@node-rs/argon2';
import { loadKeys } from '../src/keys/keys.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createKeyring } from '../src/platform/keyring.ts';
import { systemRandom } from '../src/platform/random.ts';
import { tokenDigest } from '../src/tokens/tokens.ts';
import * as data from './data.ts';
import type { BenchDatabase } from './database.ts';

const ROWS_A_STATEMENT = 10_000;
/** As src/passwords does it. */
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/**
 * Fills a migrated database by statements of many rows: users, sessions, and subscriptions for every second user, one
 * in ten of them ended.
 * @param app an application of the service
 * @param masterKey the service's own, so that both have the same data keys
 * @returns the stored hash of everybody's password
 */
export async function seed({ knex, pool }: BenchDatabase, app: data.App, masterKey: Buffer): Promise<string> {
  const keyring = createKeyring([masterKey], systemRandom);
  const keys = await loadKeys({ knex, keyring, clock: systemClock, random: systemRandom });
  const passwordHash = await hash(data.PASSWORD, ARGON2);
  const hwidDigest = (user: number) => keys.hwidDigest(app.app_id, data.hwidOf(user));

  for (const users of chunks(data.USERS)) {
    await pool.query(
      `insert into users (user_id, app_id, username, username_key, password_hash, hwid_digest, created_at)
       select id, $1, name, name, $2, hwid, now() from unnest($3::text[], $4::text[], $5::bytea[]) as t (id, name, hwid)`,
      [app.app_id, passwordHash, users.map(data.userIdOf), users.map(data.usernameOf), users.map(hwidDigest)],
    );
    const subscribers = users.filter((user) => user % 2 === 0);
    await pool.query(
      `insert into subscriptions (user_id, tier, starts_at, ends_at)
       select id, 'Pro', now() - interval '31 days', now() + case when ended then -1 else 30 end * interval '1 day'
       from unnest($1::text[], $2::boolean[]) as t (id, ended)`,
      [subscribers.map(data.userIdOf), subscribers.map((user) => user % 20 === 0)],
    );
  }
  for (const sessions of chunks(data.SESSIONS)) {
    const owners = sessions.map(data.userOfSession);
    await pool.query(
      `insert into sessions (session_digest, token_digest, app_id, user_id, hwid_digest, created_at, expires_at)
       select id, token, $1, owner, hwid, now(), now() + interval '24 hours'
       from unnest($2::bytea[], $3::bytea[], $4::text[], $5::bytea[]) as t (id, token, owner, hwid)`,
      [
        app.app_id,
        sessions.map((session) => tokenDigest(data.sessionIdOf(session))),
        sessions.map((session) => tokenDigest(data.tokenOf(app.app_id, session))),
        owners.map(data.userIdOf),
        owners.map(hwidDigest),
      ],
    );
  }
  await pool.query('update application_usage set users = $1 where app_id = $2', [data.USERS, app.app_id]);
  await pool.query('vacuum (analyze)');
  await pool.query('checkpoint');
  return passwordHash;
}

/** The numbers below `count` in portions. */
function* chunks(count: number): Generator<number[]> {
  for (let start = 0; start < count; start += ROWS_A_STATEMENT) {
    yield Array.from({ length: Math.min(ROWS_A_STATEMENT, count - start) }, (_, index) => start + index);
  }
}
