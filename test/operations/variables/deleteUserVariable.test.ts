import { expect, test } from 'vitest';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { auditOf, putUserVariable, seen, setVariable, variablesOf } from '../support/variables.ts';

const { api } = await startTestService();

test('deletes the user’s variable, which reveals the application’s', async () => {
  const app = await newApp(api);
  const { token, user } = await newSession(api, app);
  await setVariable(api, app, 'a', 'app');
  await putUserVariable(api, app, user!.id!, 'a', 'own');
  const path = `${variablesOf(app, user!.id!)}/a`;
  const { body } = await api.call('DELETE', path, undefined, { token: app.token });
  expect(body).toEqual({ status: 'success', message: 'Variable deleted.' });
  expect(await seen(api, app, token)).toEqual({ a: 'app' });
  expect((await auditOf(api, app))[0]).toMatchObject({
    action: 'user.variable_deleted',
    data: { name: 'a' },
  });
  expectError(await api.call('DELETE', path, undefined, { token: app.token }), 404, 'VARIABLE_NOT_FOUND');
});

test('USER_NOT_FOUND for another application’s user, APPLICATION_NOT_FOUND for another developer’s', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { token, user } = await newSession(api, app);
  await putUserVariable(api, app, user!.id!, 'a', 'own');
  const as = (owner: typeof app) => ({ token: owner.token });
  const inOther = await api.call('DELETE', `${variablesOf(other, user!.id!)}/a`, undefined, as(other));
  expectError(inOther, 404, 'USER_NOT_FOUND');
  const foreign = await api.call('DELETE', `${variablesOf(app, user!.id!)}/a`, undefined, as(other));
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  expect(await seen(api, app, token)).toEqual({ a: 'own' });
});
