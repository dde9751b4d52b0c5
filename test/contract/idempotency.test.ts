import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { newApiToken } from '../operations/support/tokens.ts';
import type { ApiResponse } from '../support/api.ts';
import { untilPaymentEventsProcessed } from '../support/billing.ts';
import { DAY } from '../support/clock.ts';
import { connectTo } from '../support/database.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { bodyFor, prepare } from './examples.ts';
import { operations, takesJson, type ContractOperation } from './operations.ts';
import { deviceHeaders, locate, newOwner, queryOf, tokenFor, type Owner } from './parameters.ts';

const EVERYTHING = ['read', 'write', 'auth:dev', 'agent:register', 'agent:execute'] as const;

const service = await startTestService();
const { api, clock } = service;

const keyed = operations.filter(({ takesKey }) => takesKey);

/** A valid request that can be sent repeatedly. */
interface Request {
  readonly owner: Owner;
  readonly body: unknown;
  send(
    key: string,
    other?: { readonly body?: unknown; readonly token?: string | undefined; readonly accept?: string },
  ): Promise<ApiResponse>;
}

async function requestOf(operation: ContractOperation): Promise<Request> {
  const owner = await newOwner(api);
  await prepare(owner, operation);
  const path = (await locate(owner, operation.path)) + queryOf(operation);
  const body = await bodyFor(owner, operation);
  // A developer session would expire before the key.
  const token =
    operation.tokenKind === 'developer'
      ? (await newApiToken(api, owner.developer, EVERYTHING)).token
      : await tokenFor(owner, operation);
  return {
    owner,
    body,
    send: (key, other = {}) => {
      const sent = { body, token, accept: '*/*', ...other };
      return api.call(operation.method, path, sent.body, {
        token: sent.token,
        headers: {
          ...deviceHeaders(owner, operation, path, sent.body, clock.now()),
          accept: sent.accept,
          'idempotency-key': key,
          ...(operation.requestBody && { 'content-type': operation.requestBody.mediaType }),
        },
      });
    },
  };
}

/** Tables that change in the background. */
const BACKGROUND = [
  'nodes',
  'rate_limits',
  'idempotency_keys',
  'active_users',
  'daily_statistics',
  'hourly_statistics',
  'license_count_changes',
  'license_counts',
  'relay_positions',
  'session_count_changes',
  'session_counts',
];

const { rows: tables } = await service.database.knex.raw<{ rows: { name: string }[] }>(
  `select table_name as name from information_schema.tables
   where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
);
const counts = tables
  .map(({ name }) => name)
  .filter((name) => !BACKGROUND.includes(name))
  .map((name) => `select '${name}' as name, count(*)::int as rows from "${name}"`)
  .join(' union all ');

/** The number of rows in each table: a second effect would add one somewhere. */
async function rows(): Promise<Record<string, number>> {
  await untilPaymentEventsProcessed(service);
  // Uses an existing connection, because a new one would read the catalog of every table again.
  const found = await service.database.knex.raw<{ rows: { name: string; rows: number }[] }>(counts);
  return Object.fromEntries(found.rows.map(({ name, rows: amount }) => [name, amount]));
}

const isReplayed = ({ headers }: ApiResponse) => headers.get('idempotency-replayed') === 'true';

/** The content of a response. */
const contentOf = ({ status, headers, body }: ApiResponse) => ({
  status,
  type: headers.get('content-type'),
  body,
});

test('the contract has operations with keys', () => {
  expect(keyed.map(({ operationId }) => operationId)).toEqual(
    expect.arrayContaining(['createApplication', 'createLicenses', 'activateLicense', 'registerDeveloper']),
  );
});

describe.each(keyed.map((operation) => [operation.operationId, operation] as const))(
  '%s',
  (_id, operation) => {
    test('has one effect and returns the same response twice', async () => {
      const { send } = await requestOf(operation);
      const key = randomUUID();
      const first = await send(key);
      expect(first.status, JSON.stringify(first.body)).toBeLessThan(300);
      expect(isReplayed(first)).toBe(false);
      const after = await rows();
      for (let n = 0; n < 2; n += 1) {
        const again = await send(key);
        expect(isReplayed(again)).toBe(true);
        expect(contentOf(again)).toEqual(contentOf(first));
        expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
      }
      expect(await rows()).toEqual(after);
    });

    test('refuses another request with the key, and still returns the first response', async () => {
      const { body, send } = await requestOf(operation);
      const key = randomUUID();
      const first = await send(key);
      const after = await rows();
      // The same JSON, but other bytes.
      const other = `${typeof body === 'string' ? body : JSON.stringify(body)}\n`;
      // Without a body, the accepted media types differ.
      const refused = await send(
        key,
        operation.requestBody ? { body: other } : { accept: 'application/json, application/problem+json' },
      );
      expect(refused.body).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
      expect(await rows()).toEqual(after);
      expect(contentOf(await send(key))).toEqual(contentOf(first));
    });

    test('does not store failures', async () => {
      const { send } = await requestOf(operation);
      const key = randomUUID();
      if (takesJson(operation)) {
        const before = await rows();
        expect((await send(key, { body: '{' })).status).toBe(400);
        expect((await send(key, { body: '[]' })).status).toBe(400);
        expect(await rows()).toEqual(before);
      }
      if (operation.bearer) expect((await send(key, { token: 'nonsense' })).status).toBe(401);
      const response = await send(key);
      expect(response.status, JSON.stringify(response.body)).toBeLessThan(300);
      expect(isReplayed(response)).toBe(false);
    });

    test('distinguishes equal keys of different callers', async () => {
      // There is one administrator.
      if (operation.tokenKind === 'administrator') return;
      const [mine, theirs] = [await requestOf(operation), await requestOf(operation)];
      const key = randomUUID();
      const first = await mine.send(key);
      const other = await theirs.send(key);
      expect(isReplayed(other)).toBe(false);
      expect(other.status).toBe(first.status);
      if (operation.tokenKind !== 'developer') return;
      // The same request of another developer does not get the response either.
      const stranger = await mine.send(key, { token: (await newDeveloper(api)).token });
      expect(isReplayed(stranger)).toBe(false);
      expect(stranger.body?.['code']).not.toBe('IDEMPOTENCY_KEY_REUSED');
    });

    test('accepts keys of 1 to 255 visible characters', async () => {
      const [one, other] = [await requestOf(operation), await requestOf(operation)];
      for (const key of ['', operation.operationId.padEnd(256, 'x'), 'with space', 'ü']) {
        expect((await one.send(key)).status, key).toBe(400);
      }
      // The keys differ by operation, because all operations have the same administrator.
      const longest = await one.send(operation.operationId.padEnd(255, 'x'));
      expect(Math.floor(longest.status / 100)).toBe(2);
      const marks = await other.send(`!~${operation.operationId}`);
      expect(Math.floor(marks.status / 100)).toBe(2);
    });
  },
);

describe('for a day', () => {
  const requests: (Request & { key: string; first: ApiResponse; operationId: string })[] = [];
  beforeAll(async () => {
    for (const operation of keyed) {
      const request = await requestOf(operation);
      const key = randomUUID();
      requests.push({ ...request, key, first: await request.send(key), operationId: operation.operationId });
    }
  });

  test('responses are encrypted in the database', async () => {
    const database = await connectTo(service.databaseUrl);
    const { rows: kept } = await database.query<Record<string, Buffer>>('select * from idempotency_keys');
    expect(kept.length).toBeGreaterThanOrEqual(requests.length);
    const dump = kept
      .flatMap((row) => Object.values(row).map((value) => value.toString('latin1')))
      .join('\n');
    for (const { first, key } of requests) {
      expect(dump).not.toContain(key);
      JSON.stringify(first.body, (_name, value: unknown) => {
        if (typeof value === 'string' && value.length > 12) expect(dump).not.toContain(value);
        return value;
      });
    }
  });

  test('a response is stored for exactly 24 hours', async () => {
    clock.advance(DAY - 1);
    for (const { send, key, first, operationId } of requests) {
      const again = await send(key);
      expect(isReplayed(again), operationId).toBe(true);
      expect(contentOf(again)).toEqual(contentOf(first));
    }
    clock.advance(1);
    for (const { send, key, operationId } of requests) {
      const again = await send(key);
      expect(isReplayed(again), operationId).toBe(false);
      expect(again.body?.['code'], operationId).not.toBe('IDEMPOTENCY_KEY_REUSED');
    }
  });

  test('and then deleted', async () => {
    clock.advance(2 * DAY);
    while ((await service.services.idempotency.clearExpired()) > 0);
    const database = await connectTo(service.databaseUrl);
    expect((await database.query('select 1 from idempotency_keys')).rowCount).toBe(0);
  });
});

test('a caller whose credentials are revoked gets no stored response', async () => {
  const { app, developer } = await newOwner(api);
  const owner = await requestOf(keyed.find(({ operationId }) => operationId === 'activateLicense')!);
  const key = randomUUID();
  expect((await owner.send(key)).status).toBe(200);
  await api.post(
    `/api/v2/dev/apps/${owner.owner.app.app_id}/rotate-secret`,
    { overlap_seconds: 0 },
    owner.owner.developer,
  );
  expect((await owner.send(key)).body).toMatchObject({ status: 401, code: 'INVALID_APP_CREDENTIALS' });

  const bot = await newApiToken(api, developer, ['write']);
  const path = `/api/v2/dev/apps/${app.app_id}/licenses`;
  const body = { amount: 1, duration_days: 1, tier: 'Pro' };
  const create = () => api.post(path, body, { token: bot.token, headers: { 'idempotency-key': key } });
  expect((await create()).status).toBe(201);
  await api.call('DELETE', `/api/v2/dev/tokens/${bot.token_id}`, undefined, developer);
  expect((await create()).body).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
});

test('a token with fewer scopes gets no stored response of one with more', async () => {
  const developer = await newDeveloper(api);
  const key = randomUUID();
  const wanted = { name: 'all', scopes: ['read', 'write', 'auth:dev'] };
  const create = ({ token }: { readonly token: string }) =>
    api.post('/api/v2/dev/tokens', wanted, { token, headers: { 'idempotency-key': key } });
  const first = await create(developer);
  expect(first.status).toBe(201);
  const few = await create(await newApiToken(api, developer, ['auth:dev']));
  expect(few.body).toMatchObject({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
  const renewed = await create(await newApiToken(api, developer, EVERYTHING));
  expect(contentOf(renewed)).toEqual(contentOf(first));
});
