import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import contract from '../../generated/openapi.json' with { type: 'json' };
import { SchemaTranslator } from '../../src/http/mcp/schema.ts';
import { toolsOf } from '../../src/http/mcp/tools.ts';
import { operations, type ContractOperation } from '../contract/operations.ts';
import { newDeveloper } from '../support/fixtures.ts';
import { startTestService } from '../support/service.ts';
import { connectAgent } from './client.ts';

const { api, baseUrl } = await startTestService();
const { client } = await connectAgent(baseUrl, (await newDeveloper(api)).token);
const { tools } = await client.listTools();
const ajv = new Ajv2020({ strict: true, strictRequired: true, strictTypes: false, allErrors: true });
addFormats.default(ajv);
const operationOf = new Map(
  toolsOf(contract).map(({ tool, operationId }) => [
    tool.name,
    operations.find((operation) => operation.operationId === operationId)!,
  ]),
);

/** The contract's example of a call. */
function exampleOf({ parameters, requestBody }: ContractOperation): Record<string, unknown> {
  const inAddress = parameters.filter((parameter) => ['path', 'query'].includes(parameter.in));
  const shown = inAddress.filter(({ example }) => example !== undefined);
  return {
    ...Object.fromEntries(shown.map(({ name, example }) => [name, example])),
    ...(requestBody?.example as object | undefined),
  };
}

test('the list of tools with their annotations', () => {
  const shown = tools.map(({ name, title, annotations }) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations!;
    expect(openWorldHint).toBe(false);
    const hints = { readOnlyHint, destructiveHint, idempotentHint };
    const set = Object.entries(hints).filter(([, holds]) => holds);
    return `${name} (${title}): ${set.map(([hint]) => hint.replace('Hint', '')).join(', ')}`;
  });
  expect(shown).toMatchInlineSnapshot(`
    [
      "sandbox_login (Authenticate in the sandbox): readOnly, idempotent",
      "sandbox_verify (Verify a session of the sandbox): readOnly, idempotent",
      "get_account (Retrieve the account): readOnly, idempotent",
      "list_applications (List applications): readOnly, idempotent",
      "generate_licenses (Generate license keys): ",
      "list_licenses (List license keys): readOnly, idempotent",
      "ban_license (Ban a license key): destructive, idempotent",
      "find_users (Search users): readOnly, idempotent",
      "get_user (Retrieve a user): readOnly, idempotent",
      "reset_hardware (Unbind the machine of a user): destructive, idempotent",
      "extend_subscription (Extend the subscription of a user): ",
      "get_statistics (Retrieve the statistics of an application): readOnly, idempotent",
    ]
  `);
});

test('the server describes itself and its use', () => {
  expect(client.getServerVersion()).toEqual({
    name: 'latchkey',
    title: 'Latchkey',
    version: contract.info.version,
    websiteUrl: baseUrl,
  });
  expect(client.getServerCapabilities()).toEqual({ tools: {} });
  const named = [...client.getInstructions()!.matchAll(/\b[a-z]+_[a-z_]+\b/g)].map(([word]) => word);
  const words = tools.flatMap(({ name, inputSchema, outputSchema }) => [
    name,
    ...Object.keys(inputSchema.properties!),
    ...Object.keys(outputSchema!.properties!),
  ]);
  expect(named.filter((word) => !words.includes(word))).toEqual([]);
});

describe.each(tools.map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const { inputSchema, outputSchema, description } = tool;

  test('has schemas of JSON Schema 2020-12, without references', () => {
    for (const schema of [inputSchema, outputSchema!]) {
      expect(ajv.validateSchema(schema), JSON.stringify(ajv.errors)).toBe(true);
      expect(() => ajv.compile(schema)).not.toThrow();
      expect(JSON.stringify(schema)).not.toMatch(/"(\$ref|nullable|example|x-[a-z-]+)":/);
    }
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  });

  test('accepts the example of the contract, and no other arguments', () => {
    const validate = ajv.compile(inputSchema);
    const example = exampleOf(operationOf.get(name)!);
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...example, surplus: 1 })).toBe(false);
    for (const argument of inputSchema.required!) {
      const { [argument]: _left, ...rest } = example;
      expect(validate(rest), argument).toBe(false);
    }
  });

  test('returns the result in the contract', () => {
    const validate = ajv.compile(outputSchema!);
    const { responses } = operationOf.get(name)!;
    const { example, examples } = (responses['200'] ?? responses['201'])!['application/json']!;
    const shown = example === undefined ? Object.values(examples!).map(({ value }) => value) : [example];
    for (const each of shown) expect(validate(each), JSON.stringify(validate.errors)).toBe(true);
  });

  test('has a short description, with its arguments', () => {
    expect(description).toMatch(/^[A-Z][^\n]+\.$/);
    expect(description!.length).toBeLessThan(600);
    for (const [argument, schema] of Object.entries(inputSchema.properties!)) {
      const { description: own } = schema as { description?: string };
      if (operationOf.get(name)!.parameters.some((parameter) => parameter.name === argument)) {
        expect(own, argument).toBeTruthy();
      }
    }
  });
});

describe('features that are specific to OpenAPI 3.0', () => {
  const translator = new SchemaTranslator({
    schemas: { Name: { type: 'string', nullable: true }, Loop: { items: { $ref: '#/schemas/Loop' } } },
  });

  test.each([
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      { oneOf: [{ type: 'string' }], nullable: true, description: 'd' },
      { description: 'd', anyOf: [{ oneOf: [{ type: 'string' }] }, { type: 'null' }] },
    ],
    [
      { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { type: 'integer', exclusiveMinimum: 0, maximum: 9 },
    ],
    [
      { type: 'string', example: 'x', 'x-redact': true },
      { type: 'string', examples: ['x'] },
    ],
    // A property may have the name of a keyword.
    [
      { type: 'object', properties: { example: { $ref: '#/schemas/Name' }, nullable: { type: 'integer' } } },
      {
        type: 'object',
        properties: { example: { type: ['string', 'null'] }, nullable: { type: 'integer' } },
      },
    ],
    [
      { type: 'object', additionalProperties: { type: 'array', items: { $ref: '#/schemas/Name' } } },
      { type: 'object', additionalProperties: { type: 'array', items: { type: ['string', 'null'] } } },
    ],
  ])('%j', (schema, translated) => {
    expect(translator.translate(schema)).toEqual(translated);
  });

  test('all parts of an object are merged', () => {
    const part = (name: string) => ({
      type: 'object',
      required: [name],
      properties: { [name]: { $ref: '#/schemas/Name' } },
    });
    expect(translator.shapeOf({ allOf: [part('a'), part('b')] })).toEqual({
      properties: { a: { type: ['string', 'null'] }, b: { type: ['string', 'null'] } },
      required: ['a', 'b'],
    });
    expect(() => translator.shapeOf({ type: 'string' })).toThrow('a tool needs an object');
  });

  test('recursive and unknown references are refused', () => {
    expect(() => translator.translate({ $ref: '#/schemas/Loop' })).toThrow('#/schemas/Loop contains itself');
    expect(() => translator.translate({ $ref: '#/schemas/None' })).toThrow('#/schemas/None is not in');
  });
});
