import { createHash } from 'node:crypto';
import pg from 'pg';
import { listen, runContender } from './contender.ts';
import { jsonListener } from './json-server.ts';

/** node:http and pg: one named statement a request, over as many connections as the service may open. */
runContender(() => {
  const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
  return listen(
    jsonListener(async ({ token }) => {
      const { rows } = await pool.query<{ user_id: string; expires_at: Date; ended_at: Date | null }>({
        name: 'find-session',
        text: 'select user_id, expires_at, ended_at from sessions where token_digest = $1',
        values: [createHash('sha256').update(token).digest()],
      });
      const [row] = rows;
      const valid = row !== undefined && row.ended_at === null && row.expires_at > new Date();
      return { status: 'success', valid, user_id: row?.user_id, expiry: row?.expires_at };
    }),
  );
});
