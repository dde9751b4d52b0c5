import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bodyFor, prepare } from '../contract/examples.ts';
import { operations, type ContractOperation } from '../contract/operations.ts';
import { deviceHeaders, locate, newOwner, queryOf, tokenFor } from '../contract/parameters.ts';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { spawnService } from '../support/processes.ts';
import { LightClient, type LightResponse } from './load.ts';
import { startTwoProcesses } from './two-processes.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');
const two = await startTwoProcesses({ MASTER_KEY: masterKey });
const { client, sql } = two;
const [{ api }] = two.services;

/** Operations with a JSON response, because the light client reads nothing else. */
const keyed = operations.filter(
  ({ takesKey, responses }) =>
    takesKey &&
    Object.entries(responses).every(([status, content]) => status >= '300' || 'application/json' in content),
);

/** Operations that cost money or quota are repeated more often. */
const SPENDING = [
  'activateLicense',
  'activateLicenseV2',
  'createLicenses',
  'createResellerLicenses',
  'creditReseller',
  'debitReseller',
  'registerUser',
  'registerUserV2',
];

/** The number of recorded changes. A change of plan is recorded later, with the event of its payment. */
async function changes(): Promise<number> {
  const [row] = await sql<{ changes: number }>(
    `select ((select count(*) from events)
       + (select count(*) from audit_log where action <> 'developer.plan_changed'))::int as changes`,
  );
  return row!.changes;
}

/** A request of an operation that can be sent to either process. */
async function requestOf(operation: ContractOperation) {
  const owner = await newOwner(api);
  await prepare(owner, operation);
  const path = (await locate(owner, operation.path)) + queryOf(operation);
  const body = await bodyFor(owner, operation);
  const token = await tokenFor(owner, operation);
  const { requestBody } = operation;
  return (turn: number, key?: string): Promise<LightResponse> =>
    client(turn).call(operation.method, path, body, {
      token,
      headers: {
        ...(requestBody && { 'content-type': requestBody.mediaType }),
        ...deviceHeaders(owner, operation, path, body, new Date()),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    });
}

/** Sends the request again while the first one with the key is in progress. */
async function untilResponse(send: () => Promise<LightResponse>): Promise<LightResponse> {
  for (;;) {
    const response = await send();
    if (response.code !== 'IDEMPOTENCY_KEY_IN_USE') return response;
    expect(response.status).toBe(409);
    expect(response.headers.get('retry-after')).toBe('1');
    await delay(randomInt(5, 60));
  }
}

describe.each(keyed.map((operation) => [operation.operationId, operation] as const))(
  '%s, many times at once over two processes',

  (_id, operation) => {
    test('one effect and one response', async () => {
      const alone = await requestOf(operation);
      const beforeAlone = await changes();
      expect((await alone(0)).status).toBeLessThan(300);
      const effect = (await changes()) - beforeAlone;

      const send = await requestOf(operation);
      const key = randomUUID();
      const times = SPENDING.includes(operation.operationId) ? 100 : 20;
      const before = await changes();
      const responses = await Promise.all(
        Array.from({ length: times }, (_, turn) => untilResponse(() => send(turn, key))),
      );
      expect((await changes()) - before).toBe(effect);
      const [first] = responses;
      expect(first!.status, JSON.stringify(first!.body)).toBeLessThan(300);
      for (const response of responses) {
        expect({ status: response.status, body: response.body }).toEqual({
          status: first!.status,
          body: first!.body,
        });
      }
      const replayed = responses.filter(({ headers }) => headers.get('idempotency-replayed') === 'true');
      expect(replayed).toHaveLength(times - 1);
    });
  },
);

test('many keys at once each have their own effect', async () => {
  const app = await newApp(api);
  const path = `/api/v2/dev/apps/${app.app_id}/licenses`;
  const keys = Array.from({ length: 40 }, () => randomUUID());
  const body = { amount: 1, duration_days: 30, tier: 'Pro' };
  const responses = await Promise.all(
    [...keys, ...keys, ...keys].map((key, turn) =>
      untilResponse(() =>
        client(turn).call('POST', path, body, { token: app.token, headers: { 'idempotency-key': key } }),
      ),
    ),
  );
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
  const made = new Set(responses.map(({ body: { licenses } }) => JSON.stringify(licenses)));
  expect(made.size).toBe(40);
  const [count] = await sql<{ made: number }>(
    'select count(*)::int as made from licenses where app_id = $1',
    [app.app_id],
  );
  expect(count!.made).toBe(40);
});

test('kill -9 during a request leaves both effect and response, or neither', async () => {
  const app = await newApp(api, await newDeveloper(api));
  const path = `/api/v2/dev/apps/${app.app_id}/licenses`;
  const body = { amount: 20, duration_days: 30, tier: 'Pro' };
  const acknowledged = new Map<string, string>();
  const keys: string[] = [];
  const send = (at: LightClient, key: string) =>
    at.call('POST', path, body, { token: app.token, headers: { 'idempotency-key': key } });

  for (let round = 0; round < 3; round += 1) {
    const victim = await spawnService({
      DATABASE_URL: two.databaseUrl,
      MASTER_KEY: masterKey,
      LOG_LEVEL: 'error',
    });
    const at = new LightClient(victim.api.baseUrl);
    const burst = Array.from({ length: 60 }, () => randomUUID());
    keys.push(...burst);
    let received = 0;
    const sent = burst.map((key) =>
      send(at, key).then(
        (response) => {
          received += 1;
          if (response.status === 201) acknowledged.set(key, JSON.stringify(response.body));
        },
        () => {},
      ),
    );
    await expect.poll(() => received, { interval: 1 }).toBeGreaterThan(5 * round);
    await victim.end('SIGKILL');
    await Promise.all(sent);
  }
  expect(acknowledged.size).toBeGreaterThan(0);
  expect(acknowledged.size).toBeLessThan(keys.length);

  for (const [turn, key] of keys.entries()) {
    const response = await untilResponse(() => send(client(turn), key));
    expect(response.status).toBe(201);
    const known = acknowledged.get(key);
    if (known !== undefined) expect(JSON.stringify(response.body)).toBe(known);
  }
  const [count] = await sql<{ made: number; announced: number }>(
    `select (select count(*)::int from licenses where app_id = $1) as made,
       (select count(*)::int from events where app_id = $1 and type = 'license.created') as announced`,
    [app.app_id],
  );
  expect(count).toEqual({ made: 20 * keys.length, announced: keys.length });
});
