/** The flow through the client that orval generates. */
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
} from './clients/orval';

const password = randomBytes(16).toString('hex');
const hwid = randomBytes(16).toString('hex');

async function main(): Promise<void> {
  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const registered = await registerDeveloper({ email, password });
  assert(registered.status === 201, JSON.stringify(registered));
  const developer = { headers: { Authorization: `Bearer ${registered.data.token}` } };
  console.log('ok register a developer');

  const application = await createApplication({ name: 'Aurora Editor' }, developer);
  assert(application.status === 201, JSON.stringify(application));
  const { app_id, secret } = application.data;
  console.log('ok create an application');

  const created = await createLicenses(app_id, { amount: 3, duration_days: 30, tier: 'Pro' }, developer);
  const lifetime = await createLicenses(app_id, { amount: 1, lifetime: true, tier: 'Pro' }, developer);
  assert(created.status === 201 && lifetime.status === 201, JSON.stringify([created, lifetime]));
  const keys = [...created.data.licenses, ...lifetime.data.licenses].map(({ license_key }) => license_key);
  assert.equal(new Set(keys).size, 4);
  console.log('ok create license keys');

  const program = await initApplication({ app_id, secret });
  assert(program.status === 200, JSON.stringify(program));
  assert.equal(program.data.app_name, 'Aurora Editor');
  console.log('ok initialize the program');

  const user = { app_id, secret, username: 'ada', password, hwid };
  const userCreated = await registerUser({ ...user, license_key: keys[0]! });
  assert(userCreated.status === 201, JSON.stringify(userCreated));
  console.log('ok register a user');

  const login = await loginUser(user);
  assert(login.status === 200, JSON.stringify(login));
  assert.equal(login.data.user?.username, 'ada');
  console.log('ok log in');

  const check = { app_id, token: login.data.token };
  const verified = await verifySessionV2(check);
  assert(verified.status === 200, JSON.stringify(verified));
  assert.equal(verified.data.valid, true);
  assert.equal(verified.data.username, 'ada');
  assert.equal(verified.data.subscription_tier, 'Pro');
  assert(Date.parse(verified.data.expiry ?? '') > 0);
  console.log('ok verify the session');

  const refused = await loginUser({ ...user, password: 'wrong password' });
  assert(refused.status === 401, JSON.stringify(refused));
  assert.equal(refused.data.status, 401);
  assert.equal(refused.data.code, 'INVALID_CREDENTIALS');
  assert(refused.data.hint);
  console.log('ok read a problem');

  const invalid = await registerUser({ ...user, email: 'not-an-email@' });
  assert(invalid.status === 400, JSON.stringify(invalid));
  assert.equal(invalid.data.code, 'VALIDATION_FAILED');
  assert.deepEqual(
    invalid.data.errors?.map(({ pointer }) => pointer),
    ['/email'],
  );
  console.log('ok read a validation problem');

  const listed: License[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await listLicenses(app_id, { limit: 2, cursor }, developer);
    assert(page.status === 200, JSON.stringify(page));
    listed.push(...page.data.data);
    cursor = page.data.next_cursor;
  }
  assert.deepEqual(listed.map(({ license_key }) => license_key).sort(), keys.toSorted());
  assert.equal(listed.filter(({ redeemed_by }) => redeemed_by === null).length, 3);
  console.log('ok list pages');

  const exported = await exportLicenses(app_id, {}, developer);
  assert(exported.status === 200, JSON.stringify(exported));
  const table = exported.data;
  const csv = await table.text();
  assert(keys.every((key) => csv.includes(key)));
  console.log('ok export CSV');

  const second = await createApplication({ name: 'Borealis Editor' }, developer);
  assert(second.status === 201, JSON.stringify(second));
  const imported = await importLicenses(second.data.app_id, table, developer);
  assert(imported.status === 201, JSON.stringify(imported));
  assert.equal(imported.data.imported, 4);
  console.log('ok import CSV');

  const content = Buffer.from('MZ\0\xff', 'latin1');
  const uploaded = await uploadFile(app_id, 'setup.exe', new Blob([content]), {}, developer);
  assert(uploaded.status === 200, JSON.stringify(uploaded));
  assert.equal(uploaded.data.size, content.length);
  console.log('ok upload a file');

  const downloaded = await downloadFile(app_id, 'setup.exe', developer);
  assert(downloaded.status === 200, JSON.stringify(downloaded));
  assert.deepEqual(Buffer.from(await downloaded.data.arrayBuffer()), content);
  console.log('ok download a file');

  const loggedOut = await logoutUser(check);
  assert(loggedOut.status === 200, JSON.stringify(loggedOut));
  const ended = await verifySessionV2(check);
  assert(ended.status === 401, JSON.stringify(ended));
  assert.equal(ended.data.status, 401);
  assert.equal(ended.data.code, 'SESSION_INVALID');
  console.log('ok log out');
}

void main();
