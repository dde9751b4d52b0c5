import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ValidateFunction } from 'ajv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generate } from '../../tools/generate.ts';
import { readContract } from '../../tools/generate/bundle.ts';
import type { Contract } from '../../tools/generate/document.ts';
import { type GeneratedFile, difference, write } from '../../tools/generate/output.ts';
import { requestValidators as buildRequestValidators } from '../../tools/generate/request-validators.ts';
import { types } from '../../tools/generate/types.ts';
import { checksOf } from '../support/response-validators.ts';

const SAMPLE = await readContract(join(import.meta.dirname, 'sample.yaml'));

let folder: string;
let output: string;
let files: GeneratedFile[];

async function load(file: string) {
  return import(pathToFileURL(join(output, file)).href);
}

function faultsOf(validate: ValidateFunction, value: unknown) {
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`).sort();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'latchkey-generate-'));
  output = join(folder, 'generated');
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  files = await generate(SAMPLE);
  write(output, files);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('the same contract results in the same bytes', async () => {
  expect(await generate(SAMPLE)).toEqual(files);
  expect(difference(output, files)).toEqual({ changed: [], stale: [] });
});

test('finds and repairs a changed, a missing and a stale file', () => {
  writeFileSync(join(output, 'openapi.json'), '{}');
  rmSync(join(output, 'types.ts'));
  writeFileSync(join(output, 'old.js'), '');
  const found = { changed: ['openapi.json', 'types.ts'], stale: ['old.js'] };
  expect(difference(output, files)).toEqual(found);
  expect(write(output, files)).toEqual(found);
  expect(readdirSync(output).sort()).toEqual(files.map(({ file }) => file).sort());
});

test('generated code loads no modules at run time', () => {
  for (const { file } of files.filter(({ file }) => file.endsWith('.js'))) {
    expect(readFileSync(join(output, file), 'utf8')).not.toMatch(/require\(|new Ajv/);
  }
});

describe('request validators', () => {
  test('report every fault, including formats', async () => {
    const { requestValidators } = await load('request-validators.js');
    const [body, parameters] = requestValidators.putKey;
    expect(faultsOf(body, { requestBody: { owner: 'ada', secret: 'x', ends_at: 'soon' } })).toEqual([
      '/requestBody/ends_at format',
      '/requestBody/owner format',
      '/requestBody/secret minLength',
    ]);
    expect(faultsOf(body, {})).toEqual([' required']);
    expect(faultsOf(parameters, { path: { key_id: '12345678901' }, query: { page: '1' } })).toEqual([
      '/path/key_id maxLength',
      '/query additionalProperties',
    ]);
  });

  test('check neither pattern nor format of a string that is too long', async () => {
    const contract = structuredClone(SAMPLE) as Contract & {
      components: { schemas: Record<string, object> };
    };
    Object.assign(contract.components.schemas['Secret']!, {
      maxLength: 8,
      pattern: '^[a-z]+$',
      format: 'email',
    });
    const output = join(folder, 'long');
    write(output, await generate(contract));
    const { requestValidators } = await import(pathToFileURL(join(output, 'request-validators.js')).href);
    const faults = (secret: string) =>
      faultsOf(requestValidators.putKey[0], { requestBody: { owner: 'ada@example.com', secret } });
    expect(faults('A'.repeat(8))).toEqual(['/requestBody/secret format', '/requestBody/secret pattern']);
    // Twice as many code units may still be few enough characters.
    expect(faults('\u{1f511}'.repeat(8))).toEqual([
      '/requestBody/secret format',
      '/requestBody/secret pattern',
    ]);
    expect(faults('A'.repeat(17))).toEqual(['/requestBody/secret maxLength']);
  });

  test('fill in the defaults of parameters, and coerce nothing', async () => {
    const { requestValidators } = await load('request-validators.js');
    const given = { path: { key_id: '1' }, query: { limit: 5 } };
    expect(faultsOf(requestValidators.getKey[0], given)).toEqual([]);
    expect(faultsOf(requestValidators.getKey[0], { ...given, query: { limit: '5' } })).toEqual([
      '/query/limit type',
    ]);
    const absent = { path: { key_id: '1' }, query: {} };
    expect(faultsOf(requestValidators.getKey[0], absent)).toEqual([]);
    expect(absent.query).toEqual({ limit: 20 });

    const body = { requestBody: { owner: 'ada@example.com', secret: 12345, ends_at: null } };
    expect(faultsOf(requestValidators.putKey[0], body)).toEqual(['/requestBody/secret type']);
    expect(body.requestBody).not.toHaveProperty('description');
  });

  test('the build fails on an invalid schema and on an operation without a name', async () => {
    const misspelt = structuredClone(SAMPLE) as Contract & {
      components: { schemas: Record<string, object> };
    };
    Object.assign(misspelt.components.schemas['Secret']!, { minLenght: 4 });
    await expect(buildRequestValidators(misspelt)).rejects.toThrow(/putKey .*minLenght/);

    const unnamed = structuredClone(SAMPLE);
    delete (unnamed.paths['/keys/{key_id}']!['get'] as { operationId?: string }).operationId;
    await expect(buildRequestValidators(unnamed)).rejects.toThrow(/operationId/);
  });
});

describe('content other than JSON', () => {
  const text = (mediaType: string) => ({
    description: 'Keys.',
    content: { [mediaType]: { schema: { type: 'string', format: 'binary' }, example: 'k1' } },
  });

  async function withImport(required: boolean) {
    const contract = structuredClone(SAMPLE);
    contract.paths['/keys/import'] = {
      post: {
        operationId: 'importKeys',
        parameters: [{ name: 'dry', in: 'query', schema: { type: 'integer', minimum: 0 } }],
        requestBody: { required, content: text('text/csv').content },
        responses: {
          '200': text('application/x-ndjson'),
          '206': text('application/octet-stream'),
          '304': { description: 'As it was.' },
        },
      },
    };
    const output = join(folder, `import-${required}`);
    write(output, await generate(contract));
    const module = await import(pathToFileURL(join(output, 'request-validators.js')).href);
    return { requestValidators: module.requestValidators, ...checksOf(contract) };
  }

  test.each([true, false])(
    'as a body is not validated, its parameters are (required: %s)',
    async (required) => {
      const { requestValidators } = await withImport(required);
      const faults = (value: object) =>
        (requestValidators.importKeys as ValidateFunction[]).flatMap((validate) => faultsOf(validate, value));
      // The body is a stream, which validators do not see.
      expect(faults({ path: {}, query: { dry: 1 }, header: {}, cookie: {} })).toEqual([]);
      expect(faults({ path: {}, query: { dry: -1 }, header: {}, cookie: {} })).toEqual([
        '/query/dry minimum',
      ]);
    },
  );

  test('has a declared response without a validator', async () => {
    const { responseValidators } = await withImport(true);
    expect(responseValidators.importKeys).toEqual({ 200: {}, 206: {}, 304: {} });
  });
});

describe('response validators', () => {
  test('exist for every JSON media type, including problems', async () => {
    const { responseValidators } = checksOf(SAMPLE);
    const problem = responseValidators['getKey']!['4XX']!['application/problem+json']!;
    expect(faultsOf(problem, { type: 'no uri', title: 'No', status: 200 })).toEqual([
      '/status minimum',
      '/type format',
    ]);
    const key = responseValidators['getKey']![200]!['application/json']!;
    const child = { owner: 'ada@example.com', secret: 's3cret', ends_at: null };
    expect(faultsOf(key, { ...child, children: [child, { owner: 'ada' }] })).toEqual([
      '/children/1 required',
      '/children/1/owner format',
    ]);
    expect(faultsOf(key, { ...child, children: [{ ...child, added: 1 }] })).toEqual([
      '/children/0 additionalProperties',
    ]);
  });

  test('distinguish declared statuses from others, and share functions', async () => {
    const { responseValidators, responseHeaders } = checksOf(SAMPLE);
    expect(responseValidators['putKey']![204]).toEqual({});
    expect(responseValidators['putKey']![500]).toBeUndefined();
    expect(responseValidators['putKey']!['5XX']!['application/problem+json']!).toBe(
      responseValidators['getKey']!['4XX']!['application/problem+json']!,
    );
    expect(responseHeaders['getKey']![200]).toEqual({ etag: true });
  });
});

test('types name all members, also of compositions, although clients expect unknown ones', async () => {
  const contract = structuredClone(SAMPLE);
  const part = { type: 'object', properties: { more: { type: 'string' } }, additionalProperties: true };
  Object.assign(contract.components!.schemas!, {
    Whole: { allOf: [part], additionalProperties: true },
    Map: { type: 'object', additionalProperties: true },
  });
  const written = await types(contract);
  expect(written.match(/\[key: string\]: unknown/g)).toHaveLength(1);
  expect(written).toMatch(/Map: \{\s*\[key: string\]: unknown/);
});

test('case folding is full and not Turkic', async () => {
  const { caseFolding } = await load('case-folding.ts');
  expect(caseFolding.size).toBe(1585);
  expect(['A', 'ß', 'ſ', 'I', 'ﬃ', 'Σ'].map((c) => caseFolding.get(c.codePointAt(0)))).toEqual([
    'a',
    'ss',
    's',
    'i',
    'ffi',
    'σ',
  ]);
  expect(caseFolding.has('a'.codePointAt(0))).toBe(false);
});
