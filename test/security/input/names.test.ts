import { describe, expect, test } from 'vitest';
import {
  operations,
  resolve,
  shapeOf,
  takesJson,
  type ContractOperation,
  type ContractSchema,
} from '../../contract/operations.ts';
import { startTestService } from '../../support/service.ts';
import { JOINED, READABLE, UNREADABLE } from '../support/names.ts';
import { requestOf } from '../support/requests.ts';

const service = await startTestService();

interface Named {
  readonly operation: ContractOperation;
  readonly operationId: string;
  readonly member: string;
  readonly list: boolean;
  readonly schema: ContractSchema;
}

/** Every member of an operation's body that names something. */
function namesIn(operation: ContractOperation): Named[] {
  const { operationId, requestBody } = operation;
  return Object.entries(shapeOf(requestBody!.schema).properties).flatMap(([member, property]) => {
    const { items, ...own } = resolve(property);
    const schema = items ? resolve(items) : own;
    const given = (schema as { 'x-name'?: string })['x-name'] === 'given';
    return given ? [{ operation, operationId, member, list: items !== undefined, schema }] : [];
  });
}

const named = operations.filter(takesJson).flatMap(namesIn);
const known = operations.filter(takesJson).flatMap(({ operationId, ...operation }) =>
  Object.entries(shapeOf(operation.requestBody!.schema).properties)
    .filter(([member]) => member === 'tier')
    .map(([member]) => ({ operation: { operationId, ...operation }, operationId, member })),
);

const bodyWith = (body: unknown, { member, list }: Named, name: string) => ({
  ...(body as object),
  [member]: list ? [name] : name,
});

test('the contract marks the members that are names', () => {
  const found = named.map(({ operationId, member }) => `${operationId} ${member}`);
  expect(found).toEqual(
    expect.arrayContaining([
      'registerUser username',
      'createUser username',
      'createUser role',
      'registerDeveloper name',
      'createApplication name',
      'updateApplication tiers',
      'createApiToken name',
      'createOAuthClient name',
      'registerAgent name',
      'claimAgent name',
      'createAgent name',
      'createReseller name',
      'createResellerToken name',
      'createPlan name',
      'createPlan features',
    ]),
  );
});

describe('unreadable names are refused', () => {
  test.each(named)('$operationId: $member', async (each) => {
    const request = await requestOf(service, each.operation);
    for (const name of UNREADABLE) {
      const response = await request.send({ body: bodyWith(request.body, each, name) });
      expect(response.status, `${JSON.stringify(name)}: ${JSON.stringify(response.body)}`).toBe(400);
      expect(response.body).toMatchObject({
        code: 'VALIDATION_FAILED',
        errors: [expect.objectContaining({ pointer: each.list ? `/${each.member}/0` : `/${each.member}` })],
      });
    }
  });

  test.each(known)('$operationId: a blank $member', async ({ operation, member }) => {
    const request = await requestOf(service, operation);
    for (const blank of [' ', '   ', '\u00a0\u3000\u2003']) {
      const response = await request.send({ body: { ...(request.body as object), [member]: blank } });
      expect(response.status, JSON.stringify(response.body)).toBe(400);
      expect(response.body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ pointer: `/${member}` }] });
    }
  });
});

describe('names in many scripts are accepted and returned exactly', () => {
  // A registration is for the machine of its device, which `registerDevice` names.
  const free = named.filter(({ operation, member }) => !operation.deviceSignature || member !== 'hwid');
  const registered = named.filter(({ operationId }) => operationId === 'registerDevice');

  test.each([...free, ...registered].map((each, index) => ({ ...each, index })))(
    '$operationId: $member',
    async (each) => {
      const isIdentifier = each.schema.format === 'visible-identifier';
      const honest = isIdentifier ? READABLE : [...READABLE, ...JOINED];
      // Each member gets other names. Plans share one namespace.
      const [first, second] = [
        each.index,
        isIdentifier ? each.index + 7 : honest.length - 1 - (each.index % 4),
      ];
      const names = [first, second].map((place) => `${honest[place % honest.length]} ${each.index}`);
      for (const name of names) {
        const request = await requestOf(service, each.operation);
        const { status, body } = await request.send({ body: bodyWith(request.body, each, name) });
        expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(300);
        const shown = JSON.stringify(body);
        if (new RegExp(`"${each.member}":`).test(shown)) expect(shown).toContain(JSON.stringify(name));
      }
    },
  );

  test('blanks in and around a name are kept', async () => {
    const operation = operations.find(({ operationId }) => operationId === 'createReseller')!;
    const request = await requestOf(service, operation);
    const name = ' Blue\u00a0Moon ';
    const { status, body } = await request.send({ body: { ...(request.body as object), name } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name });
  });
});
