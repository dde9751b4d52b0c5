import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { temporaryFolder } from '../support/processes.ts';
import { expectFlow } from './support/flow.ts';
import { generateClient } from './support/openapi-generator.ts';
import { CONTRACT, demand, GENERATORS, type Command, type Outcome } from './support/programs.ts';

let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder(atFileEnd);
  await cp(join(GENERATORS, 'go'), folder, { recursive: true });
  await go('.', 'mod', 'download');
});

test('oapi-codegen', async () => {
  await mkdir(join(folder, 'oapi-codegen/client'));
  const options = ['-package', 'client', '-generate', 'types,client', '-o', 'client/client.go'];
  const { stdout, stderr } = await go('oapi-codegen', 'tool', 'oapi-codegen', ...options, CONTRACT);
  expect(stdout + stderr).toBe('');
  await expectFlow(await build('oapi-codegen'));
});

test('ogen', async () => {
  const options = ['--package', 'client', '--target', 'client', '--config', 'ogen.yml'];
  const { stdout, stderr } = await go('ogen', 'tool', 'ogen', ...options, CONTRACT);
  const warnings = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('WARN'));
  // It warns of every header whose name Go spells differently, such as ETag.
  expect(warnings.filter((warning) => !warning.includes('Header name is not canonical'))).toEqual([]);
  await expectFlow(await build('ogen'));
});

test('openapi-generator', async () => {
  const warnings = await generateClient('go', join(folder, 'openapi-generator'));
  // It warns of every parameter and model whose name is a word of Go.
  expect(
    warnings.filter((warning) => !/\b(?:type|range) \(reserved word\) cannot be used/.test(warning)),
  ).toEqual([]);
  // The client becomes a package of the program's module.
  await rm(join(folder, 'openapi-generator/client/go.mod'));
  await expectFlow(await build('openapi-generator'));
});

/** Runs a command of Go in a folder of the module. */
function go(path: string, ...args: readonly string[]): Promise<Outcome> {
  return demand({ program: 'go', args, cwd: join(folder, path) });
}

/** Compiles a flow program. Without the paths of temporary folders in it, Go can reuse what it compiled before. */
async function build(name: string): Promise<Command> {
  await go(name, 'build', '-trimpath', '-o', 'flow');
  return { program: join(folder, name, 'flow'), args: [], environment: { TMPDIR: folder } };
}
