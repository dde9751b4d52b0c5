import { describe, expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { auditOf, putVariable, seen, setVariable, variablesOf } from '../support/variables.ts';

const service = await startTestService();
const { api, clock, databaseUrl } = service;

test('creates a variable and replaces it', async () => {
  const app = await newApp(api);
  const created_at = clock.now().toISOString();
  const first = await setVariable(api, app, 'motd', 'Hello.');
  expect(first).toEqual({
    status: 'success',
    name: 'motd',
    value: 'Hello.',
    visibility: 'public',
    created_at,
    updated_at: created_at,
  });
  clock.advance(SECOND);
  const second = await setVariable(api, app, 'motd', 'Goodbye.', 'session');
  expect(second).toEqual({
    ...first,
    value: 'Goodbye.',
    visibility: 'session',
    updated_at: clock.now().toISOString(),
  });
  const { body } = await api.call('GET', variablesOf(app), undefined, { token: app.token });
  expect(body['data']).toMatchObject([{ name: 'motd', value: 'Goodbye.' }]);
});

test('the sessions’ event has its name, and the audit log the actor; a change without effect has neither', async () => {
  const app = await newApp(api);
  await setVariable(api, app, 'motd', 'a private thing');
  await setVariable(api, app, 'motd', 'a private thing');
  const database = await connectTo(databaseUrl);
  const { rows } = await database.query(
    `select type, data from events where app_id = $1 and type like 'variable.%'`,
    [app.app_id],
  );
  expect(rows).toEqual([{ type: 'variable.set', data: { name: 'motd', visibility: 'public' } }]);
  const log = await auditOf(api, app);
  expect(log[0]).toMatchObject({ action: 'variable.set', data: { name: 'motd', visibility: 'public' } });
  expect(JSON.stringify([rows, log])).not.toContain('a private thing');
});

test.each([
  ['nothing', ''],
  ['white space', ' \t\r\n '],
  ['control characters', '\u0001\u001f\u007f\u0085'],
  ['any script', 'ключ 🔑 \u202e \ufeff e\u0301 é'],
  ['what looks like JSON', '{"a":"\\u0000"}'],
  ['noncharacters', '\ufffe\uffff\u{10ffff}'],
  ['65536 bytes', 'x'.repeat(65_536)],
  ['65536 bytes of long characters', '🔑'.repeat(16_384)],
])('a value is returned exactly: %s', async (_what, value) => {
  const app = await newApp(api);
  expect((await setVariable(api, app, 'v', value)).value).toBe(value);
  expect((await seen(api, app))['v']).toBe(value);
});

test.each([['a'], ['_'], ['0'], ['a.b-c_D'], ['x'.repeat(64)], ['__proto__'], ['constructor']])(
  'accepts the name %s',
  async (name) => {
    const app = await newApp(api);
    expect((await setVariable(api, app, name, 'v')).name).toBe(name);
    const read = await api.call('GET', `${variablesOf(app)}/${name}`, undefined, { token: app.token });
    expect(read.body).toMatchObject({ name, value: 'v' });
  },
);

test('names are case-sensitive', async () => {
  const app = await newApp(api);
  await setVariable(api, app, 'Key', '1');
  await setVariable(api, app, 'key', '2');
  expect(await seen(api, app)).toEqual({ Key: '1', key: '2' });
});

test.each([['-a'], ['.a'], ['a%20b'], ['a%2Fb'], ['%C3%A4'], ['a%00'], ['x'.repeat(65)], ['a:b'], ['a%0A']])(
  'VALIDATION_FAILED for the name %s',
  async (name) => {
    const response = await putVariable(api, await newApp(api), name, { value: 'v', visibility: 'public' });
    expectFaults(response, 'path/name');
  },
);

test.each<[string, unknown, ...string[]]>([
  ['no members', {}, '/value', '/visibility'],
  ['no value', { visibility: 'public' }, '/value'],
  ['no visibility', { value: 'v' }, '/visibility'],
  ['a number', { value: 7, visibility: 'public' }, '/value'],
  ['null', { value: null, visibility: 'public' }, '/value'],
  ['NUL', { value: 'a\0b', visibility: 'public' }, '/value'],
  ['65537 bytes', { value: 'x'.repeat(65_537), visibility: 'public' }, '/value'],
  ['65537 bytes of long characters', { value: `${'🔑'.repeat(16_384)}x`, visibility: 'public' }, '/value'],
  ['another visibility', { value: 'v', visibility: 'private' }, '/visibility'],
])('VALIDATION_FAILED for %s', async (_what, body, ...pointers) => {
  const app = await newApp(api);
  expectFaults(await putVariable(api, app, 'v', body), ...pointers);
  expect(await seen(api, app)).toEqual({});
});

test('a lone surrogate is refused, not repaired', async () => {
  const app = await newApp(api);
  expectError(
    await putVariable(api, app, 'v', '{"value":"\\ud800","visibility":"public"}'),
    400,
    'MALFORMED_JSON',
  );
});

describe('QUOTA_EXCEEDED', () => {
  test('above 1 MiB of values, in bytes; existing and smaller values stay', async () => {
    const app = await newApp(api);
    for (let n = 0; n < 16; n += 1) await setVariable(api, app, `v${n}`, 'ä'.repeat(32_768));
    expectError(
      await putVariable(api, app, 'more', { value: 'x', visibility: 'public' }),
      403,
      'QUOTA_EXCEEDED',
    );
    expect(Object.keys(await seen(api, app))).toHaveLength(16);
    await setVariable(api, app, 'v0', 'ä'.repeat(32_767));
    await setVariable(api, app, 'more', 'xy');
    expectError(
      await putVariable(api, app, 'v0', { value: 'x'.repeat(65_535), visibility: 'public' }),
      403,
      'QUOTA_EXCEEDED',
    );
    await setVariable(api, app, 'empty', '');
  });

  test('above 1000 variables; an existing one can still be replaced', async () => {
    const app = await newApp(api);
    const database = await connectTo(databaseUrl);
    await database.query(
      `insert into variables (variable_id, app_id, name, value, bytes, visibility, created_at, updated_at)
       select $1 || n, $1, 'n' || n, 'v', 1, 'public', now(), now() from generate_series(1, 999) n`,
      [app.app_id],
    );
    await setVariable(api, app, 'last', 'v');
    expectError(
      await putVariable(api, app, 'more', { value: '', visibility: 'public' }),
      403,
      'QUOTA_EXCEEDED',
    );
    await setVariable(api, app, 'last', 'w');
    expect(Object.keys(await seen(api, app))).toHaveLength(1000);
  });
});

test('variables of a user with the same name are separate', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  await setVariable(api, app, 'a', 'app');
  expect(await seen(api, app, token)).toEqual({ a: 'app' });
});

test('APPLICATION_NOT_FOUND, also for a deleted application', async () => {
  const app = await newApp(api);
  await api.call('DELETE', `/api/v2/dev/apps/${app.app_id}`, undefined, { token: app.token });
  expectError(
    await putVariable(api, app, 'v', { value: 'v', visibility: 'public' }),
    404,
    'APPLICATION_NOT_FOUND',
  );
});
