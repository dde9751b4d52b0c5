import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { temporaryFolder } from '../support/processes.ts';
import { expectFlow } from './support/flow.ts';
import { generateClient } from './support/openapi-generator.ts';
import { CONTRACT, demand, GENERATORS } from './support/programs.ts';

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder(atFileEnd);
  await cp(join(GENERATORS, 'typescript'), folder, { recursive: true });
  await demand({ program: 'npm', args: ['ci'], cwd: folder });
});

test('The generators warn of nothing', async () => {
  const outputs = [
    await runPackage('openapi-typescript', CONTRACT, '--output', 'clients/openapi-typescript.ts'),
    await runPackage('openapi-ts', '--input', CONTRACT, '--output', 'clients/hey-api'),
    await runPackage('orval', '--fail-on-warnings'),
  ];
  expect(outputs.filter((output) => /warn|⚠/i.test(output))).toEqual([]);
  const client = join(folder, 'clients/openapi-generator');
  await mkdir(client);
  expect(await generateClient('typescript-fetch', client)).toEqual([]);
});

test('The clients and their programs compile', async () => {
  await runPackage('tsc', '--project', '.');
});

test.for(['openapi-fetch', 'hey-api', 'openapi-generator', 'orval'])('%s', async (name) => {
  await expectFlow({ program: 'node', args: [join('compiled', `${name}.js`)], cwd: folder });
});

/** Runs a program of the package. @returns what it printed */
async function runPackage(name: string, ...args: readonly string[]): Promise<string> {
  const program = join(folder, 'node_modules/.bin', name);
  const { stdout, stderr } = await demand({ program, args, cwd: folder, environment: { CONTRACT } });
  return stdout + stderr;
}
