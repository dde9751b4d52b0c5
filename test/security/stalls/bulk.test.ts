import { randomBytes } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { buy, sellPlan } from '../../support/billing.ts';
import { licensesOf } from '../../operations/support/licenses.ts';
import { newReseller } from '../../operations/support/resellers.ts';
import { startWatched } from '../support/stalls.ts';

const MIB = 1_048_576;

const service = await startWatched();
const { api, stallsOf } = service;
const developer = await newDeveloper(api);
const app = await newApp(api, developer);
const size = { max_users_per_app: 1_000_000, max_licenses: null };
await buy(api, developer, await sellPlan(api, size));
const reseller = await newReseller(api, app);
const keys = await licensesOf(api, app).create(250);
api.quick = true;

const endHealth = service.pollHealth();
afterAll(async () => {
  expect([...(await endHealth())]).toContain(200);
});

const own = `/api/v2/dev/apps/${app.app_id}`;
const CSV = 'text/csv';
const JSON_LINES = 'application/x-ndjson';
let made = 0;
/** Rows with names that no earlier import used. */
const rows = (count: number, row: (name: string) => string) =>
  Array.from({ length: count }, () => row(`n${(made += 1)}`)).join('\n');

async function send(method: string, path: string, type: string, body: string | undefined, headers = {}) {
  const { status } = await api.send(method, path, body, {
    authorization: `Bearer ${app.token}`,
    ...(body !== undefined && { 'content-type': type }),
    ...headers,
  });
  return status;
}

/** Sends a request, and repeats it if it blocked the process. Its status must always be the same. */
async function expectNoStall(status: number, name: string, once: () => Promise<number>) {
  const statuses = new Set<number>();
  const found = await stallsOf([{ name, send: async () => (statuses.add(await once()), 0) }]);
  expect({ found, statuses: [...statuses] }).toEqual({ found: [], statuses: [status] });
}

const post = (path: string, body: object, headers = {}) =>
  send('POST', path, 'application/json', JSON.stringify(body), headers);

test.each<[string, number, string, () => string]>([
  [
    '8,000 rows',
    201,
    CSV,
    () => `username,email,tier,days\n${rows(8_000, (n) => `${n},${n}@example.com,Pro,30`)}`,
  ],
  ['8,000 lines', 201, JSON_LINES, () => rows(8_000, (n) => `{"username":"${n}","tier":"Pro","days":30}`)],
  ['20,000 short rows', 201, CSV, () => `username\n${rows(20_000, (n) => n)}`],
  ['rows that are faulty', 400, CSV, () => `username,role\n${rows(40_000, (n) => `${n},\u0000`)}`],
  ['rows of one name', 400, CSV, () => `username\n${'a\n'.repeat(50_000)}`],
  ['rows of no cells', 400, CSV, () => `username,email\n${'a\n'.repeat(50_000)}`],
  ['a MiB of commas', 400, CSV, () => `username,email\n${','.repeat(MIB)}`],
  ['lines of commas', 400, CSV, () => `username,email\n${`${','.repeat(16_000)}\n`.repeat(500)}`],
  ['lines of quotes', 400, CSV, () => `username,email\n${`"${'""'.repeat(8_000)}",\n`.repeat(200)}`],
  ['names that grow', 400, JSON_LINES, () => `{"username":"${'\ufdfa'.repeat(16_000)}"}\n`.repeat(60)],
  ['names of marks', 400, CSV, () => `username,email\n${`${'\u0301'.repeat(16_000)},\n`.repeat(60)}`],
  ['addresses of dots', 400, CSV, () => `username,email\n${`a,${'a.'.repeat(8_000)}\n`.repeat(60)}`],
  ['hashes of dollars', 400, CSV, () => `username,password_hash\n${`a,${'$'.repeat(16_000)}\n`.repeat(60)}`],
  [
    'lines of escaped quotes',
    400,
    JSON_LINES,
    () => `{"username":"x","email":"${'\\"'.repeat(8_100)}"}\n`.repeat(60),
  ],
  [
    'lines of members',
    400,
    JSON_LINES,
    () => `{${rows(1_500, (n) => `"${n}":0`).replaceAll('\n', ',')}}\n`.repeat(60),
  ],
  [
    'nested lines',
    400,
    JSON_LINES,
    () => `{"username":${'['.repeat(8_000)}${']'.repeat(8_000)}}\n`.repeat(60),
  ],
  ['blank lines', 400, JSON_LINES, () => '\n'.repeat(32 * MIB)],
  ['blank rows', 400, CSV, () => `username\n${'\n'.repeat(32 * MIB - 9)}`],
  ['lines of white space', 400, JSON_LINES, () => `${' '.repeat(16_000)}\n`.repeat(1_000)],
])('users: %s', async (name, status, type, body) => {
  await expectNoStall(status, name, () =>
    send('POST', `${own}/users/import${type === JSON_LINES ? '/ndjson' : ''}`, type, body()),
  );
});

test.each<[string, number, () => string]>([
  [
    '8,000 rows',
    201,
    () => `license_key,tier,duration_days\n${rows(8_000, (n) => `IMPORTED-KEY-${n},Pro,30`)}`,
  ],
  ['rows that are faulty', 400, () => `license_key,tier,duration_days\n${rows(8_000, (n) => `${n},,`)}`],
  ['blank rows', 400, () => `license_key,tier,duration_days\n${'\n'.repeat(16 * MIB)}`],
  ['keys of dashes', 400, () => `license_key,tier,duration_days\n${`${'-'.repeat(16_000)},,\n`.repeat(60)}`],
  [
    'moments of digits',
    400,
    () => `license_key,tier,redeem_by\n${`A,Pro,2030-01-01T00:00:00.${'0'.repeat(16_000)}\n`.repeat(60)}`,
  ],
])('licenses: %s', async (name, status, body) => {
  await expectNoStall(status, name, () => send('POST', `${own}/licenses/import`, CSV, body()));
});

const wanted = { amount: 10_000, duration_days: 30, tier: 'Pro', note: 'n'.repeat(500) };
const idempotencyKey = randomBytes(8).toString('hex');

test.each<[string, number, () => Promise<number>]>([
  ['10,000 new keys', 201, () => post(`${own}/licenses`, wanted)],
  ['10,000 new keys as CSV', 201, () => post(`${own}/licenses/csv`, wanted)],
  [
    '10,000 new keys with an Idempotency-Key',
    201,
    () => post(`${own}/licenses`, wanted, { 'idempotency-key': randomBytes(8).toString('hex') }),
  ],
  [
    '10,000 keys of an earlier request',
    201,
    () => post(`${own}/licenses`, wanted, { 'idempotency-key': idempotencyKey }),
  ],
  ['days for all keys', 200, () => post(`${own}/licenses/extend`, { days: 1, all: true })],
  [
    'days for keys, most of which do not exist',
    404,
    () =>
      post(`${own}/licenses/extend`, {
        days: 1,
        license_ids: Array.from(
          { length: 9_999 },
          (_, index) => keys[0]!.license_id.slice(0, -5) + String(index).padStart(5, '0'),
        ),
      }),
  ],
  ['days for all users', 200, () => post(`${own}/users/extend`, { days: 1, all: true })],
  ['all users', 200, () => send('GET', `${own}/users/export`, '', undefined)],
  ['all users as JSON', 200, () => send('GET', `${own}/users/export/ndjson`, '', undefined)],
  ['all keys', 200, () => send('GET', `${own}/licenses/export`, '', undefined)],
  ['statistics', 200, () => send('GET', `${own}/statistics`, '', undefined)],
  ['the deletion of unused keys', 200, () => send('DELETE', `${own}/licenses?status=unused`, '', undefined)],
])('%s', async (name, status, once) => {
  await expectNoStall(status, name, once);
});

test.each([
  `${own}/licenses/extend`,
  `${own}/users/extend`,
  `/api/v2/dev/resellers/${reseller.reseller_id}/prices`,
])('the largest body to %s', async (path) => {
  const isPrices = path.endsWith('prices');
  const limit = isPrices ? 131_072 : MIB;
  const member = isPrices ? 'prices' : path.includes('users') ? 'user_ids' : 'license_ids';
  const bodies = ['{}', '[]', '""', '"a"', '0', '{"a":0}'].map(
    (item) => `{"${member}":[${`${item},`.repeat((limit - 40) / (item.length + 1))}0]}`,
  );
  const nested = ['['.repeat(limit), `${'['.repeat(limit / 2)}${']'.repeat(limit / 2)}`];
  const attacks = [...bodies, ...nested].map((body) => ({
    name: body.slice(0, 24),
    send: () => send(isPrices ? 'PUT' : 'POST', path, 'application/json', body),
  }));
  expect(await stallsOf(attacks)).toEqual([]);
});

test('an email address in which each part could be the domain', async () => {
  const assertions = [
    `@${'@.'.repeat(1_000)}${'..'.repeat(600)} `,
    `a@${'a.'.repeat(8_000)} `,
    `${'@'.repeat(16_000)} `,
  ];
  const attacks = assertions.map((assertion) => ({
    name: assertion.slice(0, 24),
    send: () =>
      post('/api/v1/agent/register', {
        type: 'identity_assertion',
        assertion_type: 'verified_email',
        assertion,
      }),
  }));
  expect(await stallsOf(attacks)).toEqual([]);
});

test('a payment credential with many blanks', async () => {
  const authorization = `Payment T${' '.repeat(15_000)}M`;
  const attack = {
    name: 'blanks',
    send: () => send('GET', '/api/v1/agent/access', '', undefined, { authorization }),
  };
  expect(await stallsOf([attack])).toEqual([]);
});
