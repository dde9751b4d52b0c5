import { expect, test } from 'vitest';
import { DAY } from '../../support/clock.ts';
import { newApp, newUser } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { expectForeignIsAbsent, licensesOf, scoped } from '../support/licenses.ts';
import { auditOf } from '../support/variables.ts';

const { api, clock } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);
const create = async (more: object = {}) => (await licenses.create(1, more))[0]!;

test('changes what is sent, and nothing else', async () => {
  const { license_id } = await create({ note: 'before', redeem_by: inDays(clock, 3) });
  const before = (await licenses.get(license_id)).body.license;
  const note = ' “after” 🦊\n';
  const noted = await licenses.update(license_id, { note });
  expect(noted.body).toEqual({ status: 'success', license: { ...before, note } });
  const later = await licenses.update(license_id, { redeem_by: inDays(clock, 4) });
  expect(later.body.license).toEqual({ ...before, note, redeem_by: inDays(clock, 4) });
  expect((await licenses.update(license_id, {})).body.license).toEqual(later.body.license);
  const none = await licenses.update(license_id, { note: null, redeem_by: null });
  expect(none.body.license).toEqual({ ...before, note: null, redeem_by: null });
  expect((await licenses.get(license_id)).body.license).toEqual(none.body.license);
});

test('the audit log holds the new values', async () => {
  const { license_id } = await create({ redeem_by: inDays(clock, 3) });
  const redeem_by = inDays(clock, 4);
  await licenses.update(license_id, { note: 'Spring sale', redeem_by });
  await licenses.update(license_id, { redeem_by: null });
  expect((await auditOf(api, app)).slice(0, 2)).toMatchObject([
    { data: { license_id, changed: ['redeem_by'], redeem_by: null } },
    { data: { license_id, changed: ['note', 'redeem_by'], note: 'Spring sale', redeem_by } },
  ]);
});

test('with a later redeem_by, the key can be redeemed', async () => {
  const { license_id, license_key } = await create({ redeem_by: inDays(clock, 1) });
  const { username } = await newUser(api, app);
  clock.advance(1.5 * DAY);
  expectError(await api.activate(app.with({ username, license_key })), 400, 'LICENSE_UNUSABLE');
  clock.advance(-1 * DAY);
  expect((await licenses.update(license_id, { redeem_by: inDays(clock, 9) })).status).toBe(200);
  expect((await api.activate(app.with({ username, license_key }))).status).toBe(200);
});

test('VALIDATION_FAILED for an earlier redeem_by, or one where there was no limit, and nothing changes', async () => {
  const limited = await create({ redeem_by: inDays(clock, 3) });
  const unlimited = await create();
  const note = 'not this either';
  for (const [{ license_id }, redeem_by] of [
    [limited, inDays(clock, 2)],
    [unlimited, inDays(clock, 99)],
    [limited, '9999-12-31T23:59:59-01:00'],
    [limited, '2027-02-30T00:00:00Z'],
    [limited, ''],
    [limited, 7],
  ] as const) {
    expectFaults(await licenses.update(license_id, { note, redeem_by }), '/redeem_by');
    expect((await licenses.get(license_id)).body.license.note).toBeNull();
  }
  for (const bad of ['n'.repeat(501), 'a\u0000b', 1])
    expectFaults(await licenses.update(limited.license_id, { note: bad }), '/note');
});

test('a key of another application counts as absent, and the token must have the scope write', async () => {
  const { license_id } = await create();
  const change = { note: 'x', redeem_by: '2000-01-01T00:00:00Z' };
  await expectForeignIsAbsent(api, app, license_id, (calls, id) => calls.update(id, change));
  const reader = licensesOf(api, await scoped(api, app, 'read'));
  expectError(await reader.update(license_id, { note: 'x' }), 403, 'INSUFFICIENT_SCOPE');
});
