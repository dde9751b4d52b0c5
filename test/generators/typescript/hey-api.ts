/** The flow through the client that Hey API's openapi-ts generates. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  createApplication,
  createLicenses,
  downloadFile,
  exportLicenses,
  importLicenses,
  initApplication,
  listLicenses,
  loginUser,
  logoutUser,
  registerDeveloper,
  registerUser,
  uploadFile,
  verifySessionV2,
  type License,
} from './clients/hey-api';
import { client } from './clients/hey-api/client.gen';

const password = randomBytes(16).toString('hex');
const hwid = randomBytes(16).toString('hex');

async function succeeded<T>(response: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await response;
  assert(data !== undefined, JSON.stringify(error));
  return data;
}

async function failed<E>(response: Promise<{ data?: unknown; error?: E }>): Promise<E> {
  const { data, error } = await response;
  assert(error !== undefined, JSON.stringify(data));
  return error;
}

async function main(): Promise<void> {
  client.setConfig({ baseUrl: process.env['BASE_URL']! });
  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const { token } = await succeeded(registerDeveloper({ body: { email, password } }));
  client.setConfig({ auth: token });
  console.log('ok register a developer');

  const { app_id, secret } = await succeeded(createApplication({ body: { name: 'Aurora Editor' } }));
  const path = { app_id };
  console.log('ok create an application');

  const { licenses } = await succeeded(
    createLicenses({ path, body: { amount: 3, duration_days: 30, tier: 'Pro' } }),
  );
  const lifetime = await succeeded(
    createLicenses({ path, body: { amount: 1, lifetime: true, tier: 'Pro' } }),
  );
  const keys = [...licenses, ...lifetime.licenses].map(({ license_key }) => license_key);
  assert.equal(new Set(keys).size, 4);
  console.log('ok create license keys');

  const program = await succeeded(initApplication({ body: { app_id, secret } }));
  assert.equal(program.app_name, 'Aurora Editor');
  console.log('ok initialize the program');

  const user = { app_id, secret, username: 'ada', password, hwid };
  await succeeded(registerUser({ body: { ...user, license_key: keys[0]! } }));
  console.log('ok register a user');

  const session = await succeeded(loginUser({ body: user }));
  assert.equal(session.user?.username, 'ada');
  console.log('ok log in');

  const check = { app_id, token: session.token };
  const verified = await succeeded(verifySessionV2({ body: check }));
  assert.equal(verified.valid, true);
  assert.equal(verified.username, 'ada');
  assert.equal(verified.subscription_tier, 'Pro');
  assert(Date.parse(verified.expiry ?? '') > 0);
  console.log('ok verify the session');

  const problem = await failed(loginUser({ body: { ...user, password: 'wrong password' } }));
  assert.equal(problem.status, 401);
  assert.equal(problem.code, 'INVALID_CREDENTIALS');
  assert(problem.hint);
  console.log('ok read a problem');

  const invalid = await failed(registerUser({ body: { ...user, email: 'not-an-email@' } }));
  assert.equal(invalid.code, 'VALIDATION_FAILED');
  assert.deepEqual(
    invalid.errors?.map(({ pointer }) => pointer),
    ['/email'],
  );
  console.log('ok read a validation problem');

  const listed: License[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await succeeded(listLicenses({ path, query: { limit: 2, cursor } }));
    listed.push(...page.data);
    cursor = page.next_cursor;
  }
  assert.deepEqual(listed.map(({ license_key }) => license_key).sort(), keys.toSorted());
  assert.equal(listed.filter(({ redeemed_by }) => redeemed_by === null).length, 3);
  console.log('ok list pages');

  const table = await succeeded(exportLicenses({ path }));
  const csv = await table.text();
  assert(keys.every((key) => csv.includes(key)));
  console.log('ok export CSV');

  const second = await succeeded(createApplication({ body: { name: 'Borealis Editor' } }));
  const { imported } = await succeeded(importLicenses({ path: { app_id: second.app_id }, body: table }));
  assert.equal(imported, 4);
  console.log('ok import CSV');

  const content = Buffer.from('MZ\0\xff', 'latin1');
  const file = { ...path, file_name: 'setup.exe' };
  const { size } = await succeeded(uploadFile({ path: file, body: new Blob([content]) }));
  assert.equal(size, content.length);
  console.log('ok upload a file');

  const downloaded = await succeeded(downloadFile({ path: file }));
  assert.deepEqual(Buffer.from(await downloaded.arrayBuffer()), content);
  console.log('ok download a file');

  await succeeded(logoutUser({ body: check }));
  const ended = await failed(verifySessionV2({ body: check }));
  assert.equal(ended.status, 401);
  assert.equal(ended.code, 'SESSION_INVALID');
  console.log('ok log out');
}

void main();
