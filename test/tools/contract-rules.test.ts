import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { unmarkedSecrets } from '../../tools/check-secrets.ts';
import { readContract } from '../../tools/generate/bundle.ts';
import { temporaryFolder } from '../support/processes.ts';

const MIB = 1_048_576;
const SAMPLE = await readContract(join(import.meta.dirname, 'sample.yaml'));

// Faults are planted into the sample as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

/** Contracts with one kind of fault each: the rules that find it, and how it is planted. */
const CASES: readonly (readonly [what: string, rules: string[], plant: (contract: Json) => void])[] = [
  ['no fault', [], () => {}],
  [
    'an operation without a name',
    [
      'operation-description',
      'operation-operationId',
      'operation-summary',
      'operation-tag-defined',
      'rule/operation-tag',
    ],
    ({ paths }) => {
      const get = paths['/keys/{key_id}'].get;
      for (const field of ['operationId', 'summary', 'description', 'tags']) delete get[field];
      paths['/keys/{key_id}'].put.tags = ['Unknown'];
    },
  ],
  [
    'an example that violates a format, through a reference',
    ['no-invalid-media-type-examples'],
    ({ components }) => (components.examples.Key.value.owner = 'ada'),
  ],
  [
    'an example of a problem that does not fit',
    ['no-invalid-media-type-examples'],
    ({ components }) =>
      (components.responses.Problem.content['application/problem+json'].example.type = 'no uri'),
  ],
  [
    'a body without an example',
    ['rule/media-type-example'],
    ({ components }) => delete components.responses.Problem.content['application/problem+json'].example,
  ],
  [
    'an example that is elsewhere',
    ['rule/example-inline'],
    ({ components }) => (components.examples.Key = { externalValue: 'https://latchkey.dev/key.json' }),
  ],
  [
    'errors in another media type',
    ['rule/error-media-type'],
    ({ components }) => {
      const { content } = components.responses.Problem;
      content['application/json'] = content['application/problem+json'];
    },
  ],
  [
    'errors by their status',
    ['rule/errors-by-range', 'rule/server-errors-by-range'],
    ({ paths }) => {
      const { responses } = paths['/keys/{key_id}'].get;
      responses['404'] = responses['4XX'];
      responses['503'] = responses['5XX'];
    },
  ],
  [
    'errors as the default',
    ['operation-4xx-response', 'rule/errors-by-range', 'rule/server-errors-by-range'],
    ({ paths }) => {
      const { responses } = paths['/keys/{key_id}'].get;
      responses.default = responses['4XX'];
      delete responses['4XX'];
    },
  ],
];

/** Lints contracts in one run, because each would load the linter again. @returns the violated rules of each */
async function lint(contracts: readonly Json[]): Promise<string[][]> {
  const folder = await temporaryFolder(afterAll);
  const files = contracts.map((contract, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(contract));
    return file;
  });
  const cli = 'node_modules/@redocly/cli/bin/cli.js';
  const args = [cli, 'lint', ...files, '--config=redocly.yaml', '--format=json'];
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, args, { env, maxBuffer: MIB }, (_, stdout) => done(stdout));
  });
  // One document after the other.
  const documents = JSON.parse(`[${output.replaceAll('\n}{\n', '\n},{\n')}]`) as {
    problems: { ruleId: string }[];
  }[];
  return documents.map(({ problems }) => [...new Set(problems.map(({ ruleId }) => ruleId))].sort());
}

const violated = await lint(
  CASES.map(([, , plant]) => {
    const contract: Json = structuredClone(SAMPLE);
    plant(contract);
    return contract;
  }),
);

test('every contract is linted', () => {
  expect(violated).toHaveLength(CASES.length);
});

test.each(CASES.map(([what, rules], index) => ({ what, rules, found: violated[index] })))(
  'the rules find $what',
  ({ rules, found }) => {
    expect(found).toEqual(rules);
  },
);

test('the sample marks its secrets', () => {
  expect(unmarkedSecrets(SAMPLE)).toEqual([]);
});

test('finds a secret without x-redact in other media types than JSON, too', () => {
  const contract: Json = structuredClone(SAMPLE);
  const line = { type: 'object', properties: { license_key: { type: 'string' }, note: { type: 'string' } } };
  contract.paths['/keys/import'] = {
    post: {
      operationId: 'importKeys',
      requestBody: { content: { 'application/x-ndjson': { schema: line, example: 'license_key' } } },
      responses: { '200': { content: { 'text/csv': { schema: { type: 'string' }, example: 'secret' } } } },
    },
  };
  expect(unmarkedSecrets(contract)).toEqual([
    '#/paths/~1keys~1import/post/requestBody/content/application~1x-ndjson/schema/properties/license_key',
  ]);
});

test('finds a secret without x-redact by name and by format, also through a reference', () => {
  const contract: Json = structuredClone(SAMPLE);
  delete contract.components.schemas.Secret['x-redact'];
  contract.components.schemas.Key.properties.pin = { type: 'string', format: 'password' };
  contract.components.schemas.Key.properties.access_token = { type: 'string', 'x-redact': false };
  expect(unmarkedSecrets(contract)).toEqual([
    '#/components/schemas/Key/properties/secret',
    '#/components/schemas/Key/properties/pin',
    '#/components/schemas/Key/properties/access_token',
  ]);
});
