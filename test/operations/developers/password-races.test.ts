import { describe, expect, test } from 'vitest';
import { connectTo } from '../../support/database.ts';
import { newDeveloper, type Developer } from '../../support/fixtures.ts';
import { beginAuthorization, Browser, newClient } from '../../support/oauth.ts';
import { pageFor, registerEmail, submit } from '../support/agents.ts';
import { expectError } from '../support/errors.ts';
import {
  changePassword,
  completeReset,
  loginStatus,
  meStatus,
  newResetToken,
  startTwoServices,
} from '../support/passwords.ts';
import { auditLog, newApiToken } from '../support/tokens.ts';

const { service, second } = await startTwoServices();
const { api } = service;
const password = 'a new password';

/** Starts operations one after the other, each while all before it wait for the account, and releases them. */
async function inOrder<Result>(
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

test('a change with the password that was just replaced fails', async () => {
  const developer = await newDeveloper(api);
  const { email, token } = developer;
  const reset = await newResetToken(service, email);
  const [replaced, changed] = await inOrder(developer, [
    () => completeReset(api, { token: reset, password }),
    () => changePassword(second.api, token, developer.password, 'another password'),
  ]);
  expect(replaced!.status).toBe(200);
  expectError(changed!, 403, 'INVALID_CREDENTIALS');
  expect(await loginStatus(api, email, password)).toBe(200);
  expect(await meStatus(api, token)).toBe(401);
});

test('a session that has just ended signs no one out', async () => {
  const developer = await newDeveloper(api);
  const reset = await newResetToken(service, developer.email);
  const [replaced, ended] = await inOrder(developer, [
    () => completeReset(api, { token: reset, password }),
    () => second.api.call('DELETE', '/api/v2/dev/sessions', undefined, { token: developer.token }),
  ]);
  expect(replaced!.status).toBe(200);
  expectError(ended!, 401, 'UNAUTHORIZED');
});

describe('while all credentials of the account are revoked', () => {
  const token = { name: 'Backdoor', scopes: ['read', 'auth:dev'] };
  const client = { name: 'Backdoor', grant_types: ['client_credentials'], scopes: ['read'] };
  const makers = [
    ['an API token', '/api/v2/dev/tokens', token],
    ['an OAuth client', '/api/v2/dev/oauth-clients', client],
    ['an agent', '/api/v2/dev/agents', { name: 'Backdoor', scopes: ['read'] }],
  ] as const;

  test.each(makers)('a session cannot create %s', async (_what, path, wanted) => {
    const developer = await newDeveloper(api);
    const reset = await newResetToken(service, developer.email);
    const [replaced, made] = await inOrder(developer, [
      () => completeReset(api, { token: reset, password, end_access: true }),
      () => second.api.post(path, wanted, { token: developer.token }),
    ]);
    expect(replaced!.status).toBe(200);
    expectError(made!, 401, 'UNAUTHORIZED');
  });

  test('an open consent page cannot be confirmed', async () => {
    const developer = await newDeveloper(api);
    const { email, password: old } = developer;
    const client = await newClient(api, await newDeveloper(api));
    const { url } = await beginAuthorization(service.baseUrl, client);
    const browser = new Browser(service.baseUrl);
    const fields = { email, password: old, action: 'sign-in' };
    const consent = await browser.send(await browser.open(url), fields);
    const reset = await newResetToken(service, email);
    const [replaced, allowed] = await inOrder<{ status: number }>(developer, [
      () => completeReset(second.api, { token: reset, password, end_access: true }),
      () => browser.send(consent, { action: 'allow' }),
    ]);
    expect([replaced!.status, allowed!.status]).toEqual([200, 400]);
    const { body } = await api.post<{ token: string }>('/api/v2/dev/login', { email, password });
    const granted = await auditLog(api, { ...developer, ...body }, '&action=authorization.granted');
    expect(granted).toEqual([]);
  });

  test('an API token cannot create another one', async () => {
    const developer = await newDeveloper(api);
    const maker = await newApiToken(api, developer, ['read', 'auth:dev']);
    const reset = await newResetToken(service, developer.email);
    const [replaced, made] = await inOrder(developer, [
      () => completeReset(api, { token: reset, password, end_access: true }),
      () => second.api.post('/api/v2/dev/tokens', token, { token: maker.token }),
    ]);
    expect(replaced!.status).toBe(200);
    expectError(made!, 401, 'UNAUTHORIZED');
  });
});

test('confirming an agent with the password that was just replaced is denied', async () => {
  const developer = await newDeveloper(api);
  await registerEmail(api, developer.email);
  const page = await pageFor(service, developer.email);
  const reset = await newResetToken(service, developer.email);
  const [replaced, confirmed] = await inOrder<{ status: number }>(developer, [
    () => completeReset(second.api, { token: reset, password, end_access: true }),
    () => submit(api, page, { password: developer.password }),
  ]);
  expect([replaced!.status, confirmed!.status]).toEqual([200, 422]);
});

test("authorizing an issuer's agent does not deadlock with a waiting password reset", async () => {
  const { email, developerId } = await newDeveloper(api);
  const reset = await newResetToken(service, email);
  const database = await connectTo(service.databaseUrl);
  const of = ['https://issuer.example', developerId];
  const delegation = 'insert into agent_delegations values ($1, $2, $3, now())';
  await database.query(delegation, [...of, developerId]);
  await database.query('begin');
  const lock = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
  await database.query(lock, [`agent-subject ${JSON.stringify(of)}`]);
  const replaced = completeReset(api, { token: reset, password, end_access: true });
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.query(waiting)).rowCount, { interval: 5 }).toBe(1);
  // Locks like a claim.
  const note = 'select from developers where developer_id = $1 for no key update nowait';
  expect((await database.query(note, [developerId])).rowCount).toBe(1);
  await database.query('commit');
  expect((await replaced).status).toBe(200);
});
