import { expect, test } from 'vitest';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError } from '../support/errors.ts';
import { auditOf, putUserVariable, seen, setVariable, variablesOf } from '../support/variables.ts';

const { api } = await startTestService();

test('deletes the application’s variable, and not a user’s', async () => {
  const app = await newApp(api);
  const { token, user } = await newSession(api, app);
  await setVariable(api, app, 'a', 'app');
  await putUserVariable(api, app, user!.id!, 'a', 'own');
  const path = `${variablesOf(app)}/a`;
  const { body } = await api.call('DELETE', path, undefined, { token: app.token });
  expect(body).toEqual({ status: 'success', message: 'Variable deleted.' });
  expect(await seen(api, app)).toEqual({});
  expect(await seen(api, app, token)).toEqual({ a: 'own' });
  expect((await auditOf(api, app))[0]).toMatchObject({ action: 'variable.deleted', data: { name: 'a' } });
  expectError(await api.call('DELETE', path, undefined, { token: app.token }), 404, 'VARIABLE_NOT_FOUND');
});

test('APPLICATION_NOT_FOUND for another developer’s, and nothing is deleted', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await setVariable(api, app, 'a', 'v');
  const response = await api.call('DELETE', `${variablesOf(app)}/a`, undefined, { token: other.token });
  expectError(response, 404, 'APPLICATION_NOT_FOUND');
  expect(await seen(api, app)).toEqual({ a: 'v' });
});
