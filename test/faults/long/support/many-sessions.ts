import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Api } from '../../../support/api.ts';
import { newSession, type App } from '../../../support/fixtures.ts';

/** How the sessions differ from those of separate users on separate machines. */
export interface SessionShape {
  /** Whether all of them belong to one user. */
  readonly oneUser?: boolean;
  /** Whether all of them are on one machine. */
  readonly oneMachine?: boolean;
  /** When they expire. */
  readonly expiresAt?: Date;
  /** When the subscriptions of their users end. By default they have none. */
  readonly subscribedUntil?: Date;
}

/** @returns the ids of new sessions of an application, and the first of their users */
export async function newSessions(
  api: Api,
  databaseUrl: string,
  app: App,
  amount: number,
  { oneUser = false, oneMachine = false, expiresAt, subscribedUntil }: SessionShape = {},
): Promise<{ readonly ids: readonly string[]; readonly user: { id: string; hwid: string } }> {
  const { session_id, owner, user } = await newSession(api, app);
  const ids = Array.from({ length: amount }, () => randomBytes(16).toString('base64url'));
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    await database.query(
      `with model as (
         select u.role, u.password_hash, s.* from sessions s join users u using (user_id)
         where session_digest = sha256($1::bytea)
       ), made as (
         insert into users (user_id, app_id, username, username_key, role, password_hash, created_at)
         select 'usr_' || md5(id), m.app_id, md5(id), md5(id), m.role, m.password_hash, now()
         from model m, unnest($2::text[]) id
         where not $6
         returning user_id
       ), subscribed as (
         insert into subscriptions (user_id, tier, starts_at, ends_at)
         select user_id, 'Pro', now() - interval '1 day', $4::timestamptz from made
         where $4::timestamptz is not null
       )
       insert into sessions (session_digest, token_digest, app_id, user_id, hwid_digest, created_at, expires_at)
       select sha256(id::bytea), sha256(('token' || id)::bytea), m.app_id,
         case when $6 then m.user_id else 'usr_' || md5(id) end,
         case when $3 then m.hwid_digest else sha256(('hwid' || id)::bytea) end, now(), coalesce($5, m.expires_at)
       from model m, unnest($2::text[]) id`,
      [Buffer.from(session_id), ids, oneMachine, subscribedUntil ?? null, expiresAt ?? null, oneUser],
    );
    await database.query('analyze');
  } finally {
    await database.end();
  }
  return { ids, user: { id: user!.id!, hwid: owner.hwid } };
}
