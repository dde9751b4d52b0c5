import { describe, expect, test } from 'vitest';
import {
  operations,
  resolve,
  shapeOf,
  takesJson,
  type ContractOperation,
} from '../../contract/operations.ts';
import { startTestService } from '../../support/service.ts';
import { requestOf } from '../support/requests.ts';

const service = await startTestService();

/** Nothing to see, by one blank, and by several of those that Unicode has. */
const BLANK = [' ', '   ', '\u00a0\u3000\u2003'];
const NAMES = ['name', 'tier', 'role'];
const LISTS = ['tiers', 'features'];

/** Every member of an operation's body that names something, and whether it is a list of names. */
function namesIn({ requestBody }: ContractOperation): { member: string; list: boolean }[] {
  const { properties } = shapeOf(requestBody!.schema);
  return Object.entries(properties)
    .filter(([name, schema]) => NAMES.includes(name) || (LISTS.includes(name) && resolve(schema).items))
    .map(([member]) => ({ member, list: LISTS.includes(member) }));
}

const named = operations
  .filter(takesJson)
  .flatMap((operation) => namesIn(operation).map((each) => ({ ...each, operation })))
  .map((each) => ({ ...each, operationId: each.operation.operationId }));

describe('nothing has a name of blanks alone', () => {
  test('there is something to name', () => {
    expect(named.length).toBeGreaterThan(20);
    const ids = named.map(({ operationId }) => operationId);
    for (const id of [
      'createPlan',
      'createReseller',
      'createApplication',
      'createApiToken',
      'createOAuthClient',
    ])
      expect(ids).toContain(id);
  });

  test.each(named)('$operationId: $member', async ({ operation, member, list }) => {
    const request = await requestOf(service, operation);
    for (const blank of BLANK) {
      const body = { ...(request.body as object), [member]: list ? [blank] : blank };
      const answer = await request.send({ body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(400);
      expect(answer.body).toMatchObject({
        code: 'VALIDATION_FAILED',
        errors: [expect.objectContaining({ pointer: list ? `/${member}/0` : `/${member}` })],
      });
    }
  });

  test('blanks within and around a name are kept', async () => {
    const operation = operations.find(({ operationId }) => operationId === 'createReseller')!;
    const request = await requestOf(service, operation);
    const name = ' Blue\u00a0Moon ';
    const { status, body } = await request.send({ body: { ...(request.body as object), name } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ name });
  });
});
