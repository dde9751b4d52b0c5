import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { temporaryFolder } from '../support/processes.ts';
import { expectFlow } from './support/flow.ts';
import { generateClient } from './support/openapi-generator.ts';
import { CONTRACT, demand, GENERATORS } from './support/programs.ts';

const PROGRAMS = join(GENERATORS, 'python');

let folder: string;
let path: string;

beforeAll(async () => {
  folder = await temporaryFolder(atFileEnd);
  const packages = join(folder, 'packages');
  path = `${join(packages, 'bin')}:${process.env['PATH']}`;
  await demand({ program: 'python3', args: ['-m', 'venv', packages] });
  await runInPath('pip', 'install', '--quiet', '--requirement', join(PROGRAMS, 'requirements.txt'));
});

test('openapi-python-client', async () => {
  const client = join(folder, 'openapi-python-client');
  const options = ['--path', CONTRACT, '--output-path', client, '--fail-on-warning'];
  await runInPath('openapi-python-client', 'generate', ...options);
  await expectProgram('openapi_python_client.py', client, '--strict');
});

test('openapi-generator', async () => {
  // The generator renames what Python reserves, here a parameter. The client has neither name.
  expect(await generateClient('python', folder)).toEqual([
    'AbstractPythonCodegen - From (reserved word) cannot be used as model name. Renamed to ModelFrom',
  ]);
  await expectProgram('openapi_generator.py', join(folder, 'client'));
});

/** Checks the types of a program and its client, and runs it. */
async function expectProgram(name: string, client: string, ...options: readonly string[]): Promise<void> {
  const environment = { PATH: path, PYTHONPATH: client, MYPYPATH: client, PYTHONDONTWRITEBYTECODE: '1' };
  const program = join(PROGRAMS, name);
  await demand({ program: 'mypy', args: [...options, program], cwd: folder, environment });
  await expectFlow({ program: 'python', args: [program], environment });
}

async function runInPath(program: string, ...args: readonly string[]): Promise<void> {
  await demand({ program, args, environment: { PATH: path } });
}
