import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { nameFormats } from '../../tools/generate/name-characters.ts';
import { requestOf } from '../security/support/requests.ts';
import { startTestService } from '../support/service.ts';
import { operations, resolve, takesJson, type ContractOperation } from './operations.ts';

const service = await startTestService();
const ajv = new Ajv({ strict: false, schemas: { contract: { $id: 'contract', ...contract } } });
(addFormats as unknown as (ajv: Ajv) => void)(ajv);
ajv.addKeyword({
  keyword: 'x-exactly-one-of',
  validate: (names: string[], body: object) => names.filter((name) => name in body).length === 1,
});
for (const [name, format] of Object.entries(nameFormats)) ajv.addFormat(name, format);

const withJson = operations.filter((operation) => operation.requestBody && takesJson(operation));

/** Whether the contract accepts an empty object as the body of an operation. */
function takesEmptyObject({ path, method, requestBody }: ContractOperation): boolean {
  const { mediaType, schema } = requestBody!;
  if ('x-exactly-one-of' in resolve(schema)) return false;
  const pointer = ['paths', path, method.toLowerCase(), 'requestBody', 'content', mediaType, 'schema']
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  return ajv.validate({ $ref: `contract#/${pointer}` }, {});
}

describe('missing and empty bodies are treated as the contract declares', () => {
  test('the contract has operations with bodies', () => {
    expect(withJson.length).toBeGreaterThan(60);
    expect(new Set(withJson.map(takesEmptyObject))).toEqual(new Set([true, false]));
  });

  test.each(withJson.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    async (_name, operation) => {
      const { required } = operation.requestBody!;
      const isRefused = (code: unknown) => code === 'VALIDATION_FAILED' || code === 'MALFORMED_JSON';
      const request = await requestOf(service, operation);

      const missing = await request.send({ body: '' });
      expect([missing.status, isRefused(missing.body.code)]).toEqual(
        required ? [400, true] : [expect.any(Number), false],
      );
      const empty = await request.send({ body: '{}' });
      const isTaken = takesEmptyObject(operation);
      expect([empty.status, isRefused(empty.body.code)]).toEqual(
        isTaken ? [expect.any(Number), false] : [400, true],
      );
    },
  );
});
