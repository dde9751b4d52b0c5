import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { inDays } from '../support/journeys.ts';
import { expectForeignIsAbsent, licensesOf, redeemed, scoped } from '../support/licenses.ts';

const { api, clock } = await startTestService();
const app = await newApp(api);
const licenses = licensesOf(api, app);

test('shows a key with all its members', async () => {
  const [made] = await licenses.create(1, { note: 'For Ada', redeem_by: inDays(clock, 3) });
  const { status, body } = await licenses.get(made!.license_id);
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'success',
    license: {
      ...made,
      status: 'unused',
      redeemed_at: null,
      redeemed_by: null,
      reseller_id: null,
      ban_reason: null,
      created_at: clock.now().toISOString(),
    },
  });
  const used = await redeemed(api, app);
  expect((await licenses.get(used.license_id)).body.license).toMatchObject({
    status: 'redeemed',
    redeemed_by: expect.stringMatching(/^usr_/),
  });
});

test('a key of another application counts as absent, and the token must have the scope read', async () => {
  const sibling = await newApp(api);
  const [made] = await licenses.create(1);
  expectError(await licensesOf(api, sibling).get(made!.license_id), 404, 'LICENSE_NOT_FOUND');
  await expectForeignIsAbsent(api, app, made!.license_id, (calls, id) => calls.get(id));
  const writer = licensesOf(api, await scoped(api, app, 'write'));
  expectError(await writer.get(made!.license_id), 403, 'INSUFFICIENT_SCOPE');
});

test('VALIDATION_FAILED for an identifier that is too long', async () => {
  expectFaults(await licenses.get('l'.repeat(65)), 'path/license_id');
});
