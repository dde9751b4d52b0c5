import { expect } from 'vitest';
import { connectTo } from './database.ts';

/**
 * Runs work that needs a user, and another function while it waits, because another transaction locks the user.
 * @returns the result of the work, once the user is unlocked
 */
export async function whileUserIsHeld<Result>(
  databaseUrl: string,
  { app_id }: { readonly app_id: string },
  username: string,
  work: () => Promise<Result>,
  happening: () => Promise<unknown>,
): Promise<Result> {
  const database = await connectTo(databaseUrl);
  await database.query('begin');
  const held = 'select from users where app_id = $1 and username = $2 for update';
  await database.query(held, [app_id, username]);
  const working = work();
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.query(waiting)).rowCount, { interval: 5 }).toBe(1);
  await happening();
  await database.query('rollback');
  return working;
}
