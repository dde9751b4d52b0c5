import { expect, test } from 'vitest';
import { requestValidators } from '../../generated/request-validators.js';
import { newApp, newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { operations, resolve, shapeOf, takesJson, type ContractSchema } from './operations.ts';

const { api } = await startTestService();
const MANY = 40_000;
/** The limit of one loop in a validator. The number of errors may exceed it slightly. */
const BOUND = 10_000;

interface List {
  readonly operationId: string;
  readonly member: string;
}

const lists: readonly List[] = operations.filter(takesJson).flatMap(({ operationId, requestBody }) => {
  const { properties } = shapeOf(requestBody!.schema);
  return Object.entries(properties)
    .filter(([, schema]) => resolve<ContractSchema>(schema).type === 'array')
    .map(([member]) => ({ operationId, member }));
});

test('the contract has lists', () => expect(lists.length).toBeGreaterThan(8));

test.each(lists)('$operationId limits the faults of $member', ({ operationId, member }) => {
  for (const item of [{}, '', null, [], 0]) {
    const requestBody = { [member]: Array.from({ length: MANY }, () => item) };
    const parts = { path: {}, query: {}, header: {}, cookie: {}, requestBody };
    const errors = requestValidators[operationId]!.flatMap((validate) =>
      validate(parts) ? [] : (validate.errors ?? []),
    );
    expect(errors.length, JSON.stringify(item)).toBeGreaterThan(0);
    expect(errors.length, JSON.stringify(item)).toBeLessThan(BOUND);
  }
});

test('limits the faults of unknown query parameters', () => {
  // As many as fit into the head of a request.
  const query = Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`p${index}`, '']));
  for (const { operationId } of operations) {
    const parts = { path: {}, query, header: {}, cookie: {} };
    const errors = requestValidators[operationId]!.flatMap((validate) =>
      validate(parts) ? [] : (validate.errors ?? []),
    );
    expect(errors.length, operationId).toBeLessThan(2_000);
  }
});

test('a list of wrong items is a 400 with the first 100 faults', async () => {
  const developer = await newDeveloper(api);
  const { body: reseller } = await api.post<{ reseller_id: string }>(
    '/api/v2/dev/resellers',
    { name: 'Shop' },
    developer,
  );
  const { status, body } = await api.call<{ detail: string; errors: object[] }>(
    'PUT',
    `/api/v2/dev/resellers/${reseller.reseller_id}/prices`,
    `{"prices":[${'{},'.repeat(MANY)}{}]}`,
    developer,
  );
  expect({ status, detail: body.detail }).toEqual({
    status: 400,
    detail: 'More than 100 members of the request are not valid; the first 100 are listed.',
  });
  expect(body.errors).toHaveLength(100);
});

test('up to 100 faults are counted', async () => {
  const app = await newApp(api);
  const hashes = Array.from({ length: 100 }, () => 'x');
  const { body } = await api.call<{ detail: string; errors: object[] }>(
    'PATCH',
    `/api/v2/dev/apps/${app.app_id}`,
    { executable_hashes: hashes.slice(0, 99) },
    app,
  );
  expect(body.detail).toBe('100 members of the request are not valid.');
  expect(body.errors).toHaveLength(100);
});
