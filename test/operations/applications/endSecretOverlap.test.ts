import { expect, test } from 'vitest';
import { SECOND } from '../../support/clock.ts';
import { newApp, newDeveloper, newSession, newNonce, signed, type App } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { auditLog } from '../support/tokens.ts';

const { api, clock } = await startTestService();

const end = ({ app_id, token }: Pick<App, 'app_id' | 'token'>) =>
  api.call('DELETE', `/api/v2/dev/apps/${app_id}/previous-secret`, undefined, { token });
async function rotate({ app_id, token }: App): Promise<string> {
  const body = { overlap_seconds: 60 };
  const response = await api.post(`/api/v2/dev/apps/${app_id}/rotate-secret`, body, { token });
  return String(response.body['secret']);
}
const init = async ({ app_id }: App, secret: string) => (await api.init({ app_id, secret })).status;

test('the previous secret is invalid from the response, in bodies and in signatures', async () => {
  const app = await newApp(api);
  const { token } = await newSession(api, app);
  const secret = await rotate(app);
  const { status, body } = await end(app);
  expect({ status, body }).toEqual({
    status: 200,
    body: { status: 'success', message: 'Previous secret ended.' },
  });
  expect([await init(app, app.secret), await init(app, secret)]).toEqual([401, 200]);
  const request = { app_id: app.app_id, token, nonce: newNonce() };
  expectError(
    await api.verifyV2(...signed(app, request, { at: clock.now() })),
    401,
    'INVALID_APP_CREDENTIALS',
  );
  const shown = await api.call('GET', `/api/v2/dev/apps/${app.app_id}`, undefined, app);
  expect(shown.body['previous_secret_until']).toBeNull();
  expect(await auditLog(api, app, '&action=application.secret_overlap_ended')).toMatchObject([
    { app_id: app.app_id, target: app.app_id, data: {} },
  ]);
});

test('PREVIOUS_SECRET_NOT_FOUND before a rotation, a second time, and when the overlap has ended', async () => {
  const app = await newApp(api);
  expectError(await end(app), 404, 'PREVIOUS_SECRET_NOT_FOUND');
  await rotate(app);
  await end(app);
  expectError(await end(app), 404, 'PREVIOUS_SECRET_NOT_FOUND');
  const secret = await rotate(app);
  clock.advance(60 * SECOND);
  expectError(await end(app), 404, 'PREVIOUS_SECRET_NOT_FOUND');
  expect(await init(app, secret)).toBe(200);
  expect(await auditLog(api, app, '&action=application.secret_overlap_ended')).toHaveLength(1);
});

test('APPLICATION_NOT_FOUND is the same for a foreign and an absent one', async () => {
  const app = await newApp(api);
  await rotate(app);
  const { token } = await newDeveloper(api);
  const foreign = await end({ app_id: app.app_id, token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(comparable(await end({ app_id: 'app_absent', token }))).toEqual(comparable(foreign));
  expect(await init(app, app.secret)).toBe(200);
});
