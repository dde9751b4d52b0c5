import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { comparable, expectError } from '../support/errors.ts';
import { setVariable, variablesOf } from '../support/variables.ts';

const { api } = await startTestService();

test.each(['public', 'session'] as const)('shows a variable that is %s', async (visibility) => {
  const app = await newApp(api);
  const set = await setVariable(api, app, 'motd', 'Hello.', visibility);
  const read = await api.call('GET', `${variablesOf(app)}/motd`, undefined, { token: app.token });
  expect(read.body).toEqual(set);
});

test('VARIABLE_NOT_FOUND, also for another application’s and another case', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await setVariable(api, other, 'motd', 'v');
  await setVariable(api, app, 'Motd', 'v');
  const { token } = app;
  expectError(
    await api.call('GET', `${variablesOf(app)}/motd`, undefined, { token }),
    404,
    'VARIABLE_NOT_FOUND',
  );
});

test('APPLICATION_NOT_FOUND is the same for another developer’s and an absent one', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  await setVariable(api, app, 'motd', 'v');
  const { token } = other;
  const foreign = await api.call('GET', `${variablesOf(app)}/motd`, undefined, { token });
  expectError(foreign, 404, 'APPLICATION_NOT_FOUND');
  const absent = await api.call(
    'GET',
    `${variablesOf({ app_id: 'app_01kazm4q7ffx8v5t2w9y3b6n1c' })}/motd`,
    undefined,
    { token },
  );
  expect(comparable(absent)).toEqual(comparable(foreign));
});
