import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseConnectionUrl } from '../../../src/platform/database/connection-url.ts';
import { StartupError } from '../../../src/platform/startup-error.ts';
import { temporaryFolder } from '../../support/processes.ts';

const BASE = 'postgresql://me:hunter2@db.example:6432/latchkey';
const parse = (text: string) => parseConnectionUrl('DATABASE_URL', text);
const folder = await temporaryFolder(afterAll);
const file = join(folder, 'certificate.pem');
const contents = randomBytes(8);
await writeFile(file, contents);

/** Every parameter of libpq 18 and those that other libraries use: a value that is applied, or undefined. */
const PARAMETERS: Readonly<Record<string, string | undefined>> = {
  host: 'other.example',
  port: '5433',
  dbname: 'other',
  user: 'someone',
  password: 'swordfish',
  application_name: 'mine',
  fallback_application_name: 'mine',
  options: '-c search_path=latchkey',
  client_encoding: 'UTF8',
  connect_timeout: '10',
  keepalives: '0',
  keepalives_idle: '30',
  target_session_attrs: 'read-write',
  load_balance_hosts: 'disable',
  gssencmode: 'disable',
  channel_binding: 'prefer',
  ssl: 'true',
  sslmode: 'verify-full',
  sslnegotiation: 'postgres',
  sslrootcert: file,
  sslcert: file,
  sslkey: file,
  sslpassword: 'swordfish',
  sslcrl: file,
  sslsni: '1',
  sslcompression: '0',
  ssl_min_protocol_version: 'TLSv1.3',
  ssl_max_protocol_version: 'TLSv1.3',
  hostaddr: undefined,
  passfile: undefined,
  require_auth: undefined,
  keepalives_interval: undefined,
  keepalives_count: undefined,
  tcp_user_timeout: undefined,
  replication: undefined,
  requiressl: undefined,
  sslkeylogfile: undefined,
  sslcertmode: undefined,
  sslcrldir: undefined,
  requirepeer: undefined,
  min_protocol_version: undefined,
  max_protocol_version: undefined,
  krbsrvname: undefined,
  gsslib: undefined,
  gssdelegation: undefined,
  scram_client_key: undefined,
  scram_server_key: undefined,
  service: undefined,
  servicefile: undefined,
  oauth_issuer: undefined,
  oauth_client_id: undefined,
  oauth_client_secret: undefined,
  oauth_scope: undefined,
  // pg would let these override its options.
  statement_timeout: undefined,
  query_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
  lock_timeout: undefined,
  max: undefined,
  encoding: undefined,
  uselibpqcompat: undefined,
  enableChannelBinding: undefined,
  // Those of other libraries.
  pgbouncer: undefined,
  schema: undefined,
  constructor: undefined,
};

function refusalOf(text: string): string {
  try {
    parse(text);
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError);
    const { message } = error as StartupError;
    expect(message).toMatch(/^DATABASE_URL\b/);
    expect(message).not.toMatch(/\n|hunter2/);
    return message;
  }
  throw new Error(`${text} is not refused`);
}

describe('each parameter is applied, or refused by name', () => {
  test.each(Object.entries(PARAMETERS))('%s', (name, value) => {
    const text = `${BASE}?${new URLSearchParams({ [name]: value ?? '1' })}`;
    if (value === undefined) expect(refusalOf(text)).toContain(` ${name} `);
    else expect(() => parse(text)).not.toThrow();
  });

  test.each([
    ['sslmode', 'prefer'],
    ['sslmode', 'allow'],
    ['sslmode', 'hunter2'],
    ['channel_binding', 'require'],
    ['client_encoding', 'LATIN1'],
    ['target_session_attrs', 'read-only'],
    ['target_session_attrs', 'standby'],
    ['target_session_attrs', 'prefer-standby'],
    ['load_balance_hosts', 'random'],
    ['gssencmode', 'require'],
    ['sslsni', '0'],
    ['sslnegotiation', 'direct'],
    ['ssl_min_protocol_version', 'TLSv1'],
    ['sslrootcert', join(folder, 'missing')],
    ['port', 'hunter2'],
    ['connect_timeout', 'soon'],
    ['sslmode', 'disable&sslmode=require'],
  ])('a value that is not: %s=%s', (name, value) => {
    expect(refusalOf(`${BASE}?${name}=${value}`)).toContain(name);
  });
});

test.each([
  [
    'postgresql:///latchkey?host=/run/postgresql&user=me',
    { host: '/run/postgresql', user: 'me', database: 'latchkey' },
  ],
  ['postgres://me:a%2Fb%40@%2Frun%2Fpostgresql/latchkey', { host: '/run/postgresql', password: 'a/b@' }],
  ['postgresql://[::1]:5433/latchkey', { host: '::1', port: 5433, database: 'latchkey' }],
  ['postgresql://me@/latchkey?host=%2Frun', { host: '/run', user: 'me', database: 'latchkey' }],
  [BASE, { host: 'db.example', port: 6432, user: 'me', password: 'hunter2', database: 'latchkey' }],
])('%s', (text, expected) => {
  expect(parse(text)).toMatchObject(expected);
  expect(parse(text)).not.toHaveProperty('connectionString');
});

test('channel_binding=require is refused with an alternative, because pg cannot enforce it', () => {
  expect(parse(`${BASE}?channel_binding=prefer`)).toMatchObject({ enableChannelBinding: true });
  expect(parse(`${BASE}?channel_binding=disable`)).toMatchObject({ enableChannelBinding: false });
  expect(refusalOf(`${BASE}?sslmode=require&channel_binding=require`)).toContain('set it to prefer');
});

test.each([
  'postgresql://one.example,two.example/latchkey',
  'postgresql://me:hunter2@one.example:5432,two.example:5433/latchkey?target_session_attrs=read-write',
  'postgresql:///latchkey?host=one.example,two.example',
  'postgresql:///latchkey?host=one.example&port=5432,5433',
])('several hosts are refused in one line: %s', (text) => {
  expect(refusalOf(text)).toContain('several hosts');
});

test.each([
  'mysql://me:hunter2@db.example/x',
  'postgresql://me:hunter2@db.example:99999/x',
  'postgresql://me:hunter2@ho st/x',
  'postgresql://me:%ff@db/x',
  'hunter2',
  // Passwords that are not percent-encoded: no part of them may appear in the error.
  'postgresql://me:1/hunter2@db.example/x',
  'postgresql://me:1#hunter2@db.example/x',
  'postgresql://me:1?hunter2=@db.example/x',
])('not an address: %s', (text) => {
  refusalOf(text);
});

describe('sslmode decides what is verified', () => {
  test.each([
    ['disable', false],
    ['require', {}],
    ['verify-full', {}],
    ['no-verify', { rejectUnauthorized: false }],
  ])('%s', (mode, ssl) => {
    expect(parse(`${BASE}?sslmode=${mode}`).ssl).toEqual(ssl);
  });

  test('verify-ca does not check the name', () => {
    const { ssl } = parse(`${BASE}?sslmode=verify-ca&sslrootcert=${file}`);
    expect(ssl).toMatchObject({ ca: contents });
    expect((ssl as { checkServerIdentity(): unknown }).checkServerIdentity()).toBeUndefined();
  });

  test('without a parameter, the environment decides', () => {
    expect(parse(BASE)).not.toHaveProperty('ssl');
  });
});

test('a file that cannot be read is named by its parameter', () => {
  expect(() => parse(`${BASE}?sslmode=verify-full&sslrootcert=/nothing/here`)).toThrow(
    /^DATABASE_URL: the parameter sslrootcert names a file that cannot be read: ENOENT/,
  );
});
