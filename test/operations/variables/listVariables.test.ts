import { expect, test } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { newApp, newSession } from '../../support/fixtures.ts';
import { startTestService } from '../../support/service.ts';
import { expectError, expectFaults } from '../support/errors.ts';
import { putUserVariable, setVariable, variablesOf } from '../support/variables.ts';

type VariableList = components['schemas']['VariableList'];

const { api } = await startTestService();

test('pages together have every variable once, newest first, without those of users', async () => {
  const app = await newApp(api);
  const { user } = await newSession(api, app);
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    await setVariable(api, app, `v${n}`, String(n), n % 2 === 0 ? 'public' : 'session');
    made.unshift(`v${n}`);
  }
  await setVariable(api, app, 'v1', 'changed: it keeps its place');
  await putUserVariable(api, app, user!.id!, 'own', 'v');
  const found: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `${variablesOf(app)}?limit=2${cursor && `&cursor=${cursor}`}`;
    const { body } = await api.call<VariableList>('GET', path, undefined, { token: app.token });
    found.push(...body.data.map(({ name }) => name));
    cursor = body.next_cursor;
  }
  expect(found).toEqual(made);
});

test('APPLICATION_NOT_FOUND for another developer’s', async () => {
  const [app, other] = [await newApp(api), await newApp(api)];
  const response = await api.call('GET', variablesOf(app), undefined, { token: other.token });
  expectError(response, 404, 'APPLICATION_NOT_FOUND');
});

test.each([
  ['?limit=0', 'query/limit'],
  ['?limit=101', 'query/limit'],
  ['?cursor=x', 'query/cursor'],
  ['?name=v', 'query/name'],
])('VALIDATION_FAILED for %s', async (query, pointer) => {
  const app = await newApp(api);
  expectFaults(await api.call('GET', variablesOf(app) + query, undefined, { token: app.token }), pointer);
});
