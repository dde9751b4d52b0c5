import { describe, expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { untilPublished } from '../../support/until-published.ts';
import { SECOND } from '../../support/clock.ts';
import { newApp, newDeveloper } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { auditOf } from '../support/variables.ts';

type Application = components['schemas']['ApplicationResult'];

const service = await startTestService();
const { api, clock } = service;
const developer = await newDeveloper(api);

const patch = (app_id: string, body: unknown, token: string | undefined = developer.token) =>
  api.call<Application>('PATCH', `/api/v2/dev/apps/${app_id}`, body, { token });
const get = async (app_id: string) =>
  (await api.call<Application>('GET', `/api/v2/dev/apps/${app_id}`, undefined, { token: developer.token }))
    .body;

describe('every setting', async () => {
  const { app_id } = await newApp(api, developer);

  test.each([
    { name: 'Renamed “✓” ' },
    { hwid_lock: false },
    { hwid_lock: true },
    { integrity_check: true },
    { integrity_check: false },
    { executable_hashes: ['ab'.repeat(32), '0'.repeat(64)] },
    { executable_hashes: [] },
    { pause_sessions: true },
    { require_subscription: true },
    { minimum_version: '1.4.0-rc.1+build.5' },
    { minimum_version: '2' },
    { minimum_version: null },
    { download_url: 'https://example.com/a?b=c&d=%20#e' },
    { download_url: null },
    { max_sessions: 1 },
    { max_sessions: 1000 },
    { tiers: ['VIP', 'Standard', 'Größe “1” '] },
  ])('is changed alone, returned exactly and stored: %j', async (change) => {
    const before = await get(app_id);
    clock.advance(SECOND);
    const { status, body } = await patch(app_id, change);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...change, updated_at: clock.now().toISOString() });
    expect(await get(app_id)).toEqual(body);
  });

  test('is returned exactly or refused: a hash in upper case', async () => {
    const executable_hashes = ['AB'.repeat(32)];
    const { status, body } = await patch((await newApp(api, developer)).app_id, { executable_hashes });
    if (status !== 400) expect(body).toMatchObject({ executable_hashes });
  });

  test('keeps the contract with hashes that differ in case only', async () => {
    // The call itself holds the response against `uniqueItems` of the contract.
    const executable_hashes = ['cd'.repeat(32), 'CD'.repeat(32)];
    const { status } = await patch((await newApp(api, developer)).app_id, { executable_hashes });
    expect([200, 400]).toContain(status);
  });

  test('and several of them at once', async () => {
    const change = { name: 'Several', max_sessions: 3, pause_sessions: false, minimum_version: '3.0.0' };
    expect((await patch(app_id, change)).body).toMatchObject(change);
  });
});

describe('status', () => {
  const states = ['active', 'paused', 'disabled'] as const;
  const moves = states.flatMap((from) => states.map((to) => [from, to] as const));

  test.each(moves)('goes from %s to %s', async (from, to) => {
    const { app_id } = await newApp(api, developer);
    expect((await patch(app_id, { status: from })).body).toMatchObject({ status_code: from });
    const { status, body } = await patch(app_id, { status: to });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'success', status_code: to, paused: to === 'paused' });
    await api.call('DELETE', `/api/v2/dev/apps/${app_id}`, undefined, { token: developer.token });
  });

  test('can be set with the member paused', async () => {
    const { app_id } = await newApp(api, developer);
    expect((await patch(app_id, { paused: true })).body).toMatchObject({ status_code: 'paused' });
    expect((await patch(app_id, { paused: false })).body).toMatchObject({ status_code: 'active' });
    expect((await patch(app_id, { paused: true, status: 'paused' })).status).toBe(200);
    expect((await patch(app_id, { paused: false, status: 'active' })).status).toBe(200);
  });

  test.each([
    { status: 'active', paused: true },
    { status: 'paused', paused: false },
    { status: 'disabled', paused: true },
    { status: 'disabled', paused: false },
  ])('a contradiction is refused and changes nothing: %j', async (contradiction) => {
    const { app_id } = await newApp(api, developer);
    const before = await get(app_id);
    expectFaults(await patch(app_id, { ...contradiction, name: 'Changed' }), '/paused');
    expect(await get(app_id)).toEqual(before);
    await api.call('DELETE', `/api/v2/dev/apps/${app_id}`, undefined, { token: developer.token });
  });
});

describe('VALIDATION_FAILED', async () => {
  const { app_id } = await newApp(api, developer);

  test.each<[string, object]>([
    ['', {}],
    ['/name', { name: '' }],
    ['/name', { name: null }],
    ['/status', { status: 'gone' }],
    ['/paused', { paused: 'true' }],
    ['/hwid_lock', { hwid_lock: null }],
    ['/integrity_check', { integrity_check: 1 }],
    ['/executable_hashes', { executable_hashes: 'ab'.repeat(32) }],
    ['/executable_hashes/0', { executable_hashes: ['ab'] }],
    ['/executable_hashes', { executable_hashes: ['ab'.repeat(32), 'ab'.repeat(32)] }],
    ['/executable_hashes', { executable_hashes: many(501) }],
    ['/minimum_version', { minimum_version: '1.4.x' }],
    ['/minimum_version', { minimum_version: '01.2.3' }],
    ['/minimum_version', { minimum_version: 'v1' }],
    ['/minimum_version', { minimum_version: '1.2.3\n' }],
    ['/download_url', { download_url: 'javascript:alert(1)' }],
    ['/download_url', { download_url: 'ftp://example.com/' }],
    ['/download_url', { download_url: 'https://exa mple.com/' }],
    ['/download_url', { download_url: '' }],
    ['/max_sessions', { max_sessions: 0 }],
    ['/max_sessions', { max_sessions: 1001 }],
    ['/max_sessions', { max_sessions: 1.5 }],
    ['/max_sessions', { max_sessions: '5' }],
    ['/max_sessions', { max_sessions: 2 ** 31 }],
    ['/tiers', { tiers: [] }],
    ['/tiers', { tiers: ['Pro', 'Pro'] }],
    ['/tiers', { tiers: many(51) }],
    ['/tiers/1', { tiers: ['Pro', ''] }],
    ['/tiers/1', { tiers: ['Basic', 'BASIC'] }],
    ['/tiers/1', { tiers: ['Basic', 'Basic '] }],
    ['/tiers/1', { tiers: ['Caf\u00e9', 'Cafe\u0301'] }],
    ['/tiers/1', { tiers: ['Basic', 'Ваsіс'] }],
    ['/tiers/0', { tiers: ['PRO', 'Standard', 'Pro'] }],
    ['/tiers/1', { tiers: ['Basic', '\u3164'] }],
    ['/tiers/0', { tiers: ['Basic\ufffd'] }],
    ['/tiers/0', { tiers: ['a\u0000'] }],
    ['/tiers/0', { tiers: [null] }],
  ])('at %s', async (pointer, change) => {
    const before = await get(app_id);
    expectFaults(await patch(app_id, change), pointer);
    expect(await get(app_id)).toEqual(before);
  });

  test('refuses a body that is not an object', async () => {
    for (const body of ['[]', '"x"', '1', 'null', 'true']) expectFaults(await patch(app_id, body), '');
  });
});

test('the audit log contains the new values, and the event for sessions only their names', async () => {
  const app = await newApp(api, developer);
  const change = {
    executable_hashes: ['ab'.repeat(32)],
    download_url: 'https://example.com/a',
    tiers: ['Pro'],
  };
  await patch(app.app_id, { ...change, status: 'paused' });
  await patch(app.app_id, { minimum_version: null });
  const changed = Object.keys(change);
  const expected = [
    { status_code: 'paused', changed },
    { status_code: 'paused', changed: ['minimum_version'] },
  ];
  expect(await auditOf(api, app)).toMatchObject([
    { action: 'application.updated', data: { ...expected[1], minimum_version: null } },
    { action: 'application.paused', data: { ...expected[0], ...change } },
    { action: 'application.created' },
  ]);
  await untilPublished(service);
  const events = `/api/v2/dev/apps/${app.app_id}/events?type=application.paused,application.updated`;
  const { body } = await api.call<{ data: { data: object }[] }>('GET', events, undefined, developer);
  expect(body.data.map(({ data }) => data)).toEqual(expected);
});

test('members that the contract does not name change nothing', async () => {
  const { app_id } = await newApp(api, developer);
  const { body } = await patch(app_id, {
    app_id: 'app_1',
    secret: 'x',
    users: 9,
    created_at: '',
    deleted_at: 'now',
  });
  expect(body).toMatchObject({ app_id, users: 0 });
});

test('500 hashes fit', async () => {
  const { app_id } = await newApp(api, developer);
  const executable_hashes = many(500).map((hash) => hash.padStart(64, '0'));
  expect((await patch(app_id, { executable_hashes })).body).toMatchObject({ executable_hashes });
});

test('changes of several at the same time are all kept', async () => {
  const { app_id } = await newApp(api, developer);
  const changes = [
    { name: 'N' },
    { max_sessions: 7 },
    { tiers: ['T'] },
    { hwid_lock: false },
    { status: 'paused' },
  ];
  const responses = await Promise.all(changes.map((change) => patch(app_id, change)));
  expect(responses.map(({ status }) => status)).toEqual(changes.map(() => 200));
  expect(await get(app_id)).toMatchObject({
    name: 'N',
    max_sessions: 7,
    tiers: ['T'],
    hwid_lock: false,
    status_code: 'paused',
  });
});

test("APPLICATION_NOT_FOUND is the same for another developer's and an absent one, which stay untouched", async () => {
  const { app_id } = await newApp(api, developer);
  const stranger = await newDeveloper(api);
  const absent = await patch('app_01kazm4q7ffx8v5t2w9y3b6n1c', { name: 'Mine' }, stranger.token);
  expectError(absent, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await patch(app_id, { name: 'Mine' }, stranger.token))).toEqual(comparable(absent));
  expect((await get(app_id)).name).not.toBe('Mine');
});

test('UNAUTHORIZED without a token', async () => {
  const { app_id } = await newApp(api, developer);
  const response = await api.call('PATCH', `/api/v2/dev/apps/${app_id}`, { name: 'x' });
  expectError(response, 401, 'UNAUTHORIZED');
});

function many(count: number): string[] {
  return Array.from({ length: count }, (_each, index) => index.toString(16).padStart(64, '0'));
}
