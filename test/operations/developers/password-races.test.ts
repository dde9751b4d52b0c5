import { expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newDeveloper, type Developer } from '../../support/fixtures.ts';
import { expectError } from '../support/errors.ts';
import {
  changePassword,
  completeReset,
  loginStatus,
  meStatus,
  newResetToken,
  startTwoServices,
} from '../support/passwords.ts';

const { service, second } = await startTwoServices();
const { api } = service;
const password = 'a new password';

/** Begins one thing after the other, each while all before it wait for the account, and lets them go on. */
async function inTurn<Result>(
  { developerId }: Pick<Developer, 'developerId'>,
  works: readonly (() => Promise<Result>)[],
): Promise<Result[]> {
  const database = await connectTo(service.databaseUrl);
  await database.query('begin');
  await database.query('select from developers where developer_id = $1 for update', [developerId]);
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  const begun: Promise<Result>[] = [];
  for (const work of works) {
    begun.push(work());
    const { length } = begun;
    await expect.poll(async () => (await database.query(waiting)).rowCount, { interval: 5 }).toBe(length);
  }
  await database.query('rollback');
  return Promise.all(begun);
}

test('whoever changes the password with the one that was just replaced does not win', async () => {
  const developer = await newDeveloper(api);
  const { email, token } = developer;
  const reset = await newResetToken(service, email);
  const [replaced, changed] = await inTurn(developer, [
    () => completeReset(api, { token: reset, password }),
    () => changePassword(second.api, token, developer.password, 'another password'),
  ]);
  expect(replaced!.status).toBe(200);
  expectError(changed!, 403, 'INVALID_CREDENTIALS');
  expect(await loginStatus(api, email, password)).toBe(200);
  expect(await meStatus(api, token)).toBe(401);
});

test('a session that has just ended signs nobody out', async () => {
  const developer = await newDeveloper(api);
  const reset = await newResetToken(service, developer.email);
  const [replaced, ended] = await inTurn(developer, [
    () => completeReset(api, { token: reset, password }),
    () => second.api.call('DELETE', '/api/v2/dev/sessions', undefined, { token: developer.token }),
  ]);
  expect(replaced!.status).toBe(200);
  expectError(ended!, 401, 'UNAUTHORIZED');
});
