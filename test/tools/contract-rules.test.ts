import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unmarkedSecrets } from '../../tools/check-secrets.ts';
import { readContract } from '../../tools/generate/bundle.ts';

const SAMPLE = await readContract(join(import.meta.dirname, 'sample.yaml'));

// Faults are planted into the sample as plain JSON.
type Json = any; // eslint-disable-line @typescript-eslint/no-explicit-any

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-rules-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The violated rules after a change to the sample. */
async function lint(change: (contract: Json) => void): Promise<string[]> {
  const contract: Json = structuredClone(SAMPLE);
  change(contract);
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(contract));
  const output = await new Promise<string>((done) => {
    const args = [
      'node_modules/@redocly/cli/bin/cli.js',
      'lint',
      file,
      '--config=redocly.yaml',
      '--format=json',
    ];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    execFile(process.execPath, args, { env }, (_, stdout) => done(stdout));
  });
  const { problems } = JSON.parse(output) as { problems: { ruleId: string }[] };
  return [...new Set(problems.map(({ ruleId }) => ruleId))].sort();
}

test('the sample has no fault', async () => {
  expect(await lint(() => {})).toEqual([]);
  expect(unmarkedSecrets(SAMPLE)).toEqual([]);
});

test('finds an operation without a name', async () => {
  const found = await lint(({ paths }) => {
    const get = paths['/keys/{key_id}'].get;
    for (const field of ['operationId', 'summary', 'description', 'tags']) delete get[field];
    paths['/keys/{key_id}'].put.tags = ['Unknown'];
  });
  expect(found).toEqual([
    'operation-description',
    'operation-operationId',
    'operation-summary',
    'operation-tag-defined',
    'rule/operation-tag',
  ]);
});

test.each<[string, string[], (contract: Json) => void]>([
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
    ({ components }) => delete components.responses.Problem.content['application/json'].example,
  ],
  [
    'an example that is elsewhere',
    ['rule/example-inline'],
    ({ components }) => (components.examples.Key = { externalValue: 'https://latchkey.dev/key.json' }),
  ],
  [
    'an error in one media type only',
    ['operation-4xx-problem-details-rfc7807', 'rule/error-media-types'],
    ({ components }) => delete components.responses.Problem.content['application/problem+json'],
  ],
])('%s is found', async (_, rules, change) => {
  expect(await lint(change)).toEqual(rules);
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
