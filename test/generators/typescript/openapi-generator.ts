/** The flow through the client that openapi-generator's typescript-fetch generator makes. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  ApplicationsApi,
  ClientApi,
  Configuration,
  DevelopersApi,
  FilesApi,
  LicensesApi,
  ProblemDetailsFromJSON,
  ResponseError,
  type License,
  type ProblemDetails,
} from './clients/openapi-generator/client';

const basePath = process.env['BASE_URL']!;
const password = randomBytes(16).toString('hex');
const hwid = randomBytes(16).toString('hex');

/** The client throws responses that are errors, and leaves their bodies to the program. */
async function failed(response: Promise<unknown>): Promise<ProblemDetails> {
  try {
    await response;
  } catch (error) {
    if (error instanceof ResponseError) return ProblemDetailsFromJSON(await error.response.json());
    throw error;
  }
  throw new Error('The call succeeded.');
}

async function main(): Promise<void> {
  const client = new ClientApi(new Configuration({ basePath }));
  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const { token } = await new DevelopersApi(new Configuration({ basePath })).registerDeveloper({
    registerDeveloperRequest: { email, password },
  });
  const configuration = new Configuration({ basePath, accessToken: token });
  const applications = new ApplicationsApi(configuration);
  const licenses = new LicensesApi(configuration);
  const files = new FilesApi(configuration);
  console.log('ok register a developer');

  const application = await applications.createApplication({
    createApplicationRequest: { name: 'Aurora Editor' },
  });
  const { appId, secret } = application;
  console.log('ok create an application');

  const created = await licenses.createLicenses({
    appId,
    createLicensesRequest: { amount: 3, durationDays: 30, tier: 'Pro' },
  });
  const lifetime = await licenses.createLicenses({
    appId,
    createLicensesRequest: { amount: 1, lifetime: true, tier: 'Pro' },
  });
  const keys = [...created.licenses, ...lifetime.licenses].map(({ licenseKey }) => licenseKey);
  assert.equal(new Set(keys).size, 4);
  console.log('ok create license keys');

  const program = await client.initApplication({ initApplicationRequest: { appId, secret } });
  assert.equal(program.appName, 'Aurora Editor');
  console.log('ok initialize the program');

  const user = { appId, secret, username: 'ada', password, hwid };
  await client.registerUser({ registerUserRequest: { ...user, licenseKey: keys[0]! } });
  console.log('ok register a user');

  const session = await client.loginUser({ loginUserRequest: user });
  assert.equal(session.user?.username, 'ada');
  console.log('ok log in');

  const verifySessionV2Request = { appId, token: session.token };
  const verified = await client.verifySessionV2({ verifySessionV2Request });
  assert.equal(verified.valid, true);
  assert.equal(verified.username, 'ada');
  assert.equal(verified.subscriptionTier, 'Pro');
  assert(verified.expiry && verified.expiry.getTime() > 0);
  console.log('ok verify the session');

  const problem = await failed(
    client.loginUser({ loginUserRequest: { ...user, password: 'wrong password' } }),
  );
  assert.equal(problem.status, 401);
  assert.equal(problem.code, 'INVALID_CREDENTIALS');
  assert(problem.hint);
  console.log('ok read a problem');

  const invalid = await failed(
    client.registerUser({ registerUserRequest: { ...user, email: 'not-an-email@' } }),
  );
  assert.equal(invalid.code, 'VALIDATION_FAILED');
  assert.deepEqual(
    invalid.errors?.map(({ pointer }) => pointer),
    ['/email'],
  );
  console.log('ok read a validation problem');

  const listed: License[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const page = await licenses.listLicenses({ appId, limit: 2, cursor });
    listed.push(...page.data);
    cursor = page.nextCursor;
  }
  assert.deepEqual(listed.map(({ licenseKey }) => licenseKey).sort(), keys.toSorted());
  assert.equal(listed.filter(({ redeemedBy }) => redeemedBy === null).length, 3);
  console.log('ok list pages');

  const table = await licenses.exportLicenses({ appId });
  const csv = await table.text();
  assert(keys.every((key) => csv.includes(key)));
  console.log('ok export CSV');

  const second = await applications.createApplication({
    createApplicationRequest: { name: 'Borealis Editor' },
  });
  const { imported } = await licenses.importLicenses({ appId: second.appId, body: table });
  assert.equal(imported, 4);
  console.log('ok import CSV');

  const content = Buffer.from('MZ\0\xff', 'latin1');
  const { size } = await files.uploadFile({ appId, fileName: 'setup.exe', body: new Blob([content]) });
  assert.equal(size, content.length);
  console.log('ok upload a file');

  const downloaded = await files.downloadFile({ appId, fileName: 'setup.exe' });
  assert.deepEqual(Buffer.from(await downloaded.arrayBuffer()), content);
  console.log('ok download a file');

  await client.logoutUser({ logoutUserRequest: { appId, token: session.token } });
  const ended = await failed(client.verifySessionV2({ verifySessionV2Request }));
  assert.equal(ended.status, 401);
  assert.equal(ended.code, 'SESSION_INVALID');
  console.log('ok log out');
}

void main();
