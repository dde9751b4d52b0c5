import type { Knex } from 'knex';
import { subscriptionClock, type Pause } from '../../accounts/applications/application-state.ts';

/** A user to import from another system. */
export interface ImportedRow {
  readonly user_id: string;
  readonly username: string;
  readonly username_key: string;
  readonly username_look: string | null;
  readonly email: string | null;
  readonly role: string;
  readonly password_hash: string | null;
  /** Without one, the user gets no subscription. */
  readonly subscription_ends_at?: Date | undefined;
}

/** Locks the next users of the application with a running subscription. @returns their ids, in order */
export async function lockSubscribersForUpdate(
  trx: Knex.Transaction,
  application: Pause & { readonly appId: string },
  { after, limit }: { readonly after: string; readonly limit: number },
  now: Date,
): Promise<string[]> {
  const { rows } = await trx.raw<{ rows: { user_id: string }[] }>(
    `select u.user_id from users u
     where u.app_id = ? and u.user_id > ?
       and exists (select from subscriptions s where s.user_id = u.user_id and s.ends_at > ?)
     order by u.user_id limit ? for no key update of u`,
    [application.appId, after, subscriptionClock(application, now), limit],
  );
  return rows.map(({ user_id }) => user_id);
}

/** Inserts up to 1000 users in one statement, except those whose names are taken. @returns the inserted keys */
export async function insertImported(
  trx: Knex.Transaction,
  appId: string,
  rows: readonly ImportedRow[],
  createdAt: Date,
): Promise<Set<string>> {
  const inserted = await trx.raw<{ rows: { username_key: string }[] }>(
    `insert into users (app_id, created_at, user_id, username, username_key, username_look, email, role, password_hash,
       subscription_ends_at)
     select ?, ?::timestamptz, r.*
     from unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::timestamptz[]) as r
     on conflict do nothing
     returning username_key`,
    [
      appId,
      createdAt,
      rows.map((row) => row.user_id),
      rows.map((row) => row.username),
      rows.map((row) => row.username_key),
      rows.map((row) => row.username_look) as string[],
      rows.map((row) => row.email) as string[],
      rows.map((row) => row.role),
      rows.map((row) => row.password_hash) as string[],
      rows.map((row) => row.subscription_ends_at?.toISOString() ?? 'infinity'),
    ],
  );
  return new Set(inserted.rows.map(({ username_key }) => username_key));
}
