import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { expect, test } from 'vitest';
import generated from '../../generated/openapi.json' with { type: 'json' };
import { locateOperations, mediaOf, type Document } from '../../src/http/pages/reference/document.ts';
import { sampleRequest } from '../../src/http/pages/reference/samples/request.ts';
import { samplesOf } from '../../src/http/pages/reference/samples/samples.ts';
import { newApp, newDeveloper, newHwid, unique } from '../support/fixtures.ts';
import { atFileEnd } from '../support/at-file-end.ts';
import { temporaryFolder } from '../support/processes.ts';
import { PYTHON_REQUESTS } from '../support/python-requests.ts';
import { startTestService } from '../support/service.ts';

const document = generated as unknown as Document;
const located = [...locateOperations(document).values()];
const folder = await temporaryFolder(atFileEnd);

mkdirSync(join(folder, 'python'));
writeFileSync(join(folder, 'python', 'requests.py'), PYTHON_REQUESTS);

/** The example of an operation in each language, with another value of each member of its body. */
function samples(operationId: string, baseUrl: string, members: object = {}): ReadonlyMap<string, string> {
  const operation = located.find((each) => each.operation.operationId === operationId)!;
  const media = mediaOf(document, operation.operation.requestBody?.content);
  const body = media && { ...media, example: { ...(media.example as object), ...members } };
  return new Map(
    samplesOf(sampleRequest(operation, body, baseUrl)).map(({ lang, source }) => [lang, source]),
  );
}

const PROGRAMS: Readonly<Record<string, readonly [program: string, file: string]>> = {
  shell: ['bash', 'example.sh'],
  typescript: ['node', 'example.mts'],
  python: ['python3', 'example.py'],
};
const LANGUAGES = Object.keys(PROGRAMS);

/** Runs an example. @returns the response that it prints */
async function run(lang: string, source: string, environment: Record<string, string>): Promise<object> {
  const [program, file] = PROGRAMS[lang]!;
  const path = join(folder, file);
  writeFileSync(path, source);
  const { stdout } = await promisify(execFile)(program, [path], {
    env: { PATH: process.env['PATH'], PYTHONPATH: join(folder, 'python'), ...environment },
  });
  return JSON.parse(stdout) as object;
}

const service = await startTestService();
const { api, baseUrl } = service;

test.each(LANGUAGES)('the %s example of an operation without a credential', async (lang) => {
  const email = `${unique('someone')}@example.com`;
  const source = samples('registerDeveloper', baseUrl, { email, name: `O'Neil "$HOME" \\ ${'`'}` }).get(
    lang,
  )!;
  expect(await run(lang, source, {})).toHaveProperty('developer_id');
});

test.each(LANGUAGES)('the %s example of an operation with a token', async (lang) => {
  const { token } = await newDeveloper(api);
  const source = samples('createApplication', baseUrl).get(lang)!;
  expect(await run(lang, source, { TOKEN: token })).toHaveProperty('secret');
});

test.each(LANGUAGES)('the %s example of a signed request', async (lang) => {
  const app = await newApp(api, await newDeveloper(api));
  const user = { username: unique('ada'), password: 'correct horse battery staple', hwid: newHwid() };
  await api.register(app.with(user));
  service.clock.advance(Date.now() - service.clock.now().getTime());
  const source = samples('loginUserV2', baseUrl, { app_id: app.app_id, nonce: unique('nonce'), ...user });
  expect(await run(lang, source.get(lang)!, { APP_SECRET: app.secret })).toMatchObject({ status: 'success' });
});

test('a body in a command of a shell is indented as the command is', () => {
  expect(samples('createApplication', baseUrl).get('shell')).toMatch(
    /\n {2}--data-binary '\{\n {4}"[^}]*\n {2}\}'$/,
  );
  // A signature covers the spaces.
  expect(samples('loginUserV2', baseUrl).get('shell')).toMatch(/^BODY='\{\n {2}"[^}]*\n\}'$/m);
});

test('the examples of every operation are programs', async () => {
  const scripts: string[] = [];
  const python: string[] = [];
  for (const each of located) {
    const { operationId } = each.operation;
    const written = samplesOf(
      sampleRequest(each, mediaOf(document, each.operation.requestBody?.content), baseUrl),
    );
    expect(written.length, operationId).toBe(8);
    for (const { lang, source } of written) {
      expect(source, `${operationId} in ${lang}`).not.toMatch(/undefined|\[object Object\]/);
      if (lang === 'shell') scripts.push(source);
      if (lang === 'python') python.push(source);
      if (lang !== 'typescript') continue;
      const reportDiagnostics = { reportDiagnostics: true };
      expect(ts.transpileModule(source, reportDiagnostics).diagnostics, operationId).toEqual([]);
    }
  }
  const shell = join(folder, 'all.sh');
  writeFileSync(shell, scripts.join('\n'));
  await promisify(execFile)('bash', ['-n', shell]);
  const all = join(folder, 'all.json');
  writeFileSync(all, JSON.stringify(python));
  await promisify(execFile)('python3', [
    '-c',
    `import ast, json\nfor source in json.load(open(${JSON.stringify(all)})): ast.parse(source)`,
  ]);
});
