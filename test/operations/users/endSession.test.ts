import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp, newDeveloper, newHwid } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { recorded } from '../support/bulk-actions.ts';
import { comparable, expectError, expectFaults } from '../support/errors.ts';
import { callUsers, registered } from '../support/users.ts';

const service = await startTestService();
const { api, clock } = service;

interface List {
  readonly data: { session_ref: string }[];
}

const end = (app: { app_id: string; token: string }, ref: string) =>
  api.call('DELETE', `/api/v2/dev/apps/${app.app_id}/sessions/${ref}`, undefined, { token: app.token });

async function twoSessions() {
  const app = await newApp(api);
  await app.patch({ hwid_lock: false });
  const user = await registered(api, app);
  const tokens = [];
  for (const hwid of [user.hwid, newHwid()]) {
    tokens.push((await api.login(app.with({ ...user, hwid }))).body);
    clock.advance(1000);
  }
  const { body } = await callUsers<List>(api, app, 'GET', `/${user.userId}/sessions`);
  return { app, user, tokens, refs: body.data.map(({ session_ref }) => session_ref) };
}

test('ends one session and no others', async () => {
  const { app, user, tokens, refs } = await twoSessions();
  const { status, body } = await end(app, refs[0]!);
  expect({ status, body }).toEqual({ status: 200, body: { status: 'success', message: 'Session ended.' } });
  for (const token of [tokens[0]!.token, tokens[0]!.session_id]) {
    expectError(await api.verify({ app_id: app.app_id, token }), 401, 'SESSION_INVALID');
  }
  expect((await api.verify({ app_id: app.app_id, token: tokens[1]!.token })).status).toBe(200);
  expectError(await end(app, refs[0]!), 404, 'SESSION_NOT_FOUND');
  const { events, entries } = await recorded(service, app, 'session.ended');
  expect(events).toMatchObject([{ user_id: user.userId, data: { reason: 'ended' } }]);
  expect(entries).toMatchObject([{ target: refs[0] }]);
  expect((await api.login(app.with(user))).status).toBe(200);
});

test('a reference is not a credential', async () => {
  const { app, refs } = await twoSessions();
  expectError(await api.verify({ app_id: app.app_id, token: refs[0]! }), 401, 'SESSION_INVALID');
});

test('SESSION_NOT_FOUND for an expired session, another application’s and anything else', async () => {
  const { app, refs } = await twoSessions();
  const sibling = await newApp(api);
  const foreign = await end(sibling, refs[0]!);
  expectError(foreign, 404, 'SESSION_NOT_FOUND');
  for (const absent of [
    'ses_00000000000000000000000000',
    'ses_7zzzzzzzzzzzzzzzzzzzzzzzzz',
    'nonsense',
    refs[0]!.toUpperCase(),
    'ses_8zzzzzzzzzzzzzzzzzzzzzzzzz',
    app.app_id,
  ]) {
    expect(comparable(await end(sibling, absent))).toEqual(comparable(foreign));
  }
  clock.advance(DAY);
  const { token } = await newDeveloper(api);
  expectError(await end({ ...app, token }, refs[0]!), 404, 'APPLICATION_NOT_FOUND');
});

test('VALIDATION_FAILED for a reference that is too long', async () => {
  expectFaults(await end(await newApp(api), 's'.repeat(65)), 'path/session_ref');
});
