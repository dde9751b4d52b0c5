/** The flow through openapi-fetch, with the types that openapi-typescript generates. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import createClient from 'openapi-fetch';
import type { paths } from './clients/openapi-typescript';

const baseUrl = process.env['BASE_URL']!;
const password = randomBytes(16).toString('hex');
const hwid = randomBytes(16).toString('hex');

function succeeded<T>({ data, error }: { data?: T; error?: unknown }): T {
  assert(data !== undefined, JSON.stringify(error));
  return data;
}

function failed<E>({ data, error }: { data?: unknown; error?: E }): E {
  assert(error !== undefined, JSON.stringify(data));
  return error;
}

async function main(): Promise<void> {
  const client = createClient<paths>({ baseUrl });

  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const { token } = succeeded(await client.POST('/api/v2/dev/register', { body: { email, password } }));
  const developer = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  console.log('ok register a developer');

  const application = succeeded(
    await developer.POST('/api/v2/dev/apps', { body: { name: 'Aurora Editor' } }),
  );
  const { app_id, secret } = application;
  const path = { app_id };
  console.log('ok create an application');

  const { licenses } = succeeded(
    await developer.POST('/api/v2/dev/apps/{app_id}/licenses', {
      params: { path },
      body: { amount: 3, duration_days: 30, tier: 'Pro' },
    }),
  );
  const lifetime = succeeded(
    await developer.POST('/api/v2/dev/apps/{app_id}/licenses', {
      params: { path },
      body: { amount: 1, lifetime: true, tier: 'Pro' },
    }),
  );
  const keys = [...licenses, ...lifetime.licenses].map(({ license_key }) => license_key);
  assert.equal(new Set(keys).size, 4);
  console.log('ok create license keys');

  const program = succeeded(await client.POST('/api/v1/client/init', { body: { app_id, secret } }));
  assert.equal(program.app_name, 'Aurora Editor');
  console.log('ok initialize the program');

  const user = { app_id, secret, username: 'ada', password, hwid };
  succeeded(await client.POST('/api/v1/client/register', { body: { ...user, license_key: keys[0]! } }));
  console.log('ok register a user');

  const session = succeeded(await client.POST('/api/v1/client/login', { body: user }));
  assert.equal(session.user?.username, 'ada');
  console.log('ok log in');

  const check = { app_id, token: session.token };
  const verified = succeeded(await client.POST('/api/v2/client/verify-session', { body: check }));
  assert.equal(verified.valid, true);
  assert.equal(verified.username, 'ada');
  assert.equal(verified.subscription_tier, 'Pro');
  assert(Date.parse(verified.expiry ?? '') > 0);
  console.log('ok verify the session');

  const problem = failed(
    await client.POST('/api/v1/client/login', { body: { ...user, password: 'wrong password' } }),
  );
  assert.equal(problem.status, 401);
  assert.equal(problem.code, 'INVALID_CREDENTIALS');
  assert(problem.hint);
  console.log('ok read a problem');

  const invalid = failed(
    await client.POST('/api/v1/client/register', { body: { ...user, email: 'not-an-email@' } }),
  );
  assert.equal(invalid.code, 'VALIDATION_FAILED');
  assert.deepEqual(
    invalid.errors?.map(({ pointer }) => pointer),
    ['/email'],
  );
  console.log('ok read a validation problem');

  const listed = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { limit: 2, cursor };
    const page = succeeded(
      await developer.GET('/api/v2/dev/apps/{app_id}/licenses', { params: { path, query } }),
    );
    listed.push(...page.data);
    cursor = page.next_cursor;
  }
  assert.deepEqual(listed.map(({ license_key }) => license_key).sort(), keys.toSorted());
  assert.equal(listed.filter(({ redeemed_by }) => redeemed_by === null).length, 3);
  console.log('ok list pages');

  const table = succeeded(
    await developer.GET('/api/v2/dev/apps/{app_id}/licenses/export', { params: { path }, parseAs: 'text' }),
  );
  assert(keys.every((key) => table.includes(key)));
  console.log('ok export CSV');

  const second = succeeded(await developer.POST('/api/v2/dev/apps', { body: { name: 'Borealis Editor' } }));
  // openapi-fetch sends every body as JSON by default.
  const headers = { 'Content-Type': 'application/octet-stream' };
  const { imported } = succeeded(
    await developer.POST('/api/v2/dev/apps/{app_id}/licenses/import', {
      params: { path: { app_id: second.app_id } },
      headers,
      body: table,
      bodySerializer: (body) => body,
    }),
  );
  assert.equal(imported, 4);
  console.log('ok import CSV');

  const content = Buffer.from('MZ\0\xff', 'latin1');
  const file = { ...path, file_name: 'setup.exe' };
  const { size } = succeeded(
    await developer.PUT('/api/v2/dev/apps/{app_id}/files/{file_name}', {
      params: { path: file },
      headers,
      // openapi-typescript has no type for bytes.
      body: '',
      bodySerializer: () => content,
    }),
  );
  assert.equal(size, content.length);
  console.log('ok upload a file');

  const downloaded = succeeded(
    await developer.GET('/api/v2/dev/apps/{app_id}/files/{file_name}/content', {
      params: { path: file },
      parseAs: 'arrayBuffer',
    }),
  );
  assert.deepEqual(Buffer.from(downloaded), content);
  console.log('ok download a file');

  succeeded(await client.POST('/api/v1/client/logout', { body: check }));
  const ended = failed(await client.POST('/api/v2/client/verify-session', { body: check }));
  assert.equal(ended.status, 401);
  assert.equal(ended.code, 'SESSION_INVALID');
  console.log('ok log out');
}

void main();
