import { copyFile, cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectFlow } from './support/flow.ts';
import { generateClient } from './support/openapi-generator.ts';
import { CONTRACT, demand, GENERATORS, type Command } from './support/programs.ts';

const PROGRAMS = join(GENERATORS, 'rust');

/** What is compiled there stays for the next run, because the crates take minutes. */
const FOLDER = join(GENERATORS, '../../node_modules/.cache/generators/rust');

/** Copies a flow program, which still lacks its client. */
async function copyProgram(name: string): Promise<string> {
  const folder = join(FOLDER, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await cp(join(PROGRAMS, name), folder, { recursive: true });
  return folder;
}

/** Compiles a flow program and its client without a warning. The programs share their crates. */
async function compile(name: string): Promise<Command> {
  const target = join(FOLDER, 'target');
  const { stderr } = await demand({
    program: 'cargo',
    args: ['build'],
    cwd: join(FOLDER, name),
    environment: { CARGO_TARGET_DIR: target },
  });
  expect(stderr).not.toMatch(/^warning/m);
  return { program: join(target, 'debug', `${name}-flow`), args: [] };
}

test('progenitor makes a client', async () => {
  const folder = await copyProgram('progenitor');
  await copyFile(CONTRACT, join(folder, 'openapi.json'));
  await expectFlow(await compile('progenitor'));
});

test('openapi-generator makes a Rust client', async () => {
  const folder = await copyProgram('openapi-generator');
  const warnings = await generateClient('rust', folder);
  // It warns of every name that Rust spells differently, such as X-Request-Id and even application/json.
  expect(warnings.filter((warning) => !/cannot be used as a .* name\. Renamed to/.test(warning))).toEqual([]);
  await expectFlow(await compile('openapi-generator'));
});
