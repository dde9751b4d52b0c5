import { expect, test } from 'vitest';
import * as fill from '../../src/migrations/20261126020010_fill_subscription_ends.ts';
import { callUsers, registered } from '../operations/support/users.ts';
import { connectTo } from '../support/database.ts';
import { newApp } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';

const service = await startTestService();
const { api } = service;

const ENDS = 'select user_id, subscription_ends_at::text as ends_at from users order by user_id';

async function endsOf(): Promise<unknown[]> {
  return (await (await connectTo(service.databaseUrl)).query(ENDS)).rows;
}

test('the migration notes the ends of existing subscriptions, and can be repeated', async () => {
  const app = await newApp(api);
  for (const grants of [[], [1], [2, null]]) {
    const { userId } = await registered(api, app);
    for (const days of grants) {
      const grant = { tier: days === null ? 'VIP' : 'Pro', days };
      expect((await callUsers(api, app, 'POST', `/${userId}/extend`, grant)).status).toBe(200);
    }
  }
  const noted = await endsOf();
  expect(new Set(noted.map((row) => (row as { ends_at: string }).ends_at)).size).toBe(3);
  const database = await connectTo(service.databaseUrl);
  await database.query("update users set subscription_ends_at = 'infinity'");
  await fill.up(service.database.knex);
  expect(await endsOf()).toEqual(noted);
  await fill.up(service.database.knex);
  expect(await endsOf()).toEqual(noted);
});

test('the trigger notes ends for the statements of every version', async () => {
  const { userId } = await registered(api, await newApp(api));
  const database = await connectTo(service.databaseUrl);
  const end = async () => {
    const { rows } = await database.query<{ end: string }>(
      `select coalesce(nullif(subscription_ends_at, 'infinity')::date::text, 'none') as end
       from users where user_id = $1`,
      [userId],
    );
    return rows[0]!.end;
  };
  const insert = (tier: string, ends: string) =>
    database.query('insert into subscriptions values ($1, $2, $3, $4)', [userId, tier, '2030-01-01Z', ends]);
  expect(await end()).toBe('none');
  await insert('Pro', '2031-06-15 12:00Z');
  await insert('VIP', '2030-06-15 12:00Z');
  expect(await end()).toBe('2031-06-15');
  await database.query(
    `update subscriptions set ends_at = '2032-06-15 12:00Z' where user_id = $1 and tier = 'VIP'`,
    [userId],
  );
  expect(await end()).toBe('2032-06-15');
  await database.query(`delete from subscriptions where user_id = $1 and tier = 'VIP'`, [userId]);
  expect(await end()).toBe('2031-06-15');
  await database.query('delete from subscriptions where user_id = $1', [userId]);
  expect(await end()).toBe('none');
});
