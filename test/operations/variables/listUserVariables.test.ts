import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { putUserVariable, setVariable, variablesOf } from '../support/variables.ts';

type UserVariableList = components['schemas']['UserVariableList'];

const { api } = await startTestService();

test('pages have the user’s own variables, newest first', async () => {
  const app = await newApp(api);
  const [ada, bob] = [await newSession(api, app), await newSession(api, app)];
  await setVariable(api, app, 'global', 'v');
  await putUserVariable(api, app, bob.user!.id!, 'bobs', 'v');
  for (const name of ['a', 'b', 'c']) await putUserVariable(api, app, ada.user!.id!, name, name);
  const path = variablesOf(app, ada.user!.id!);
  const first = await api.call<UserVariableList>('GET', `${path}?limit=2`, undefined, { token: app.token });
  expect(first.body.data.map(({ name, value }) => [name, value])).toEqual([
    ['c', 'c'],
    ['b', 'b'],
  ]);
  const rest = await api.call<UserVariableList>(
    'GET',
    `${path}?limit=2&cursor=${first.body.next_cursor}`,
    undefined,
    { token: app.token },
  );
  expect(rest.body).toMatchObject({ data: [{ name: 'a' }], next_cursor: null });
});

test('USER_NOT_FOUND for another application’s user, APPLICATION_NOT_FOUND for another developer’s', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const { user } = await newSession(api, app);
  const { token } = other;
  expectError(
    await api.call('GET', variablesOf(other, user!.id!), undefined, { token }),
    404,
    'USER_NOT_FOUND',
  );
  expectError(
    await api.call('GET', variablesOf(app, user!.id!), undefined, { token }),
    404,
    'APPLICATION_NOT_FOUND',
  );
});

test('VALIDATION_FAILED for a cursor that is not valid', async () => {
  const app = await newApp(api);
  const { user } = await newSession(api, app);
  const path = `${variablesOf(app, user!.id!)}?cursor=x`;
  expectFaults(await api.call('GET', path, undefined, { token: app.token }), 'query/cursor');
});
