import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { expectFlow } from './support/flow.ts';
import { generateClient } from './support/openapi-generator.ts';
import { demand, GENERATORS } from './support/programs.ts';

const FOLDER = join(GENERATORS, '../../node_modules/.cache/generators/kotlin');

test('openapi-generator makes a Kotlin client', async () => {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  await cp(join(GENERATORS, 'kotlin'), FOLDER, { recursive: true });
  expect(await generateClient('kotlin', FOLDER)).toEqual([]);

  const libraries = join(FOLDER, 'libraries.txt');
  const compile = ['-B', 'compile', 'dependency:build-classpath', `-Dmdep.outputFile=${libraries}`];
  const { stdout } = await demand({ program: 'mvn', args: compile, cwd: FOLDER });
  // The generated file that sends the requests has one, for every contract.
  const warnings = stdout.split('\n').filter((line) => /^\[WARNING\] file:/.test(line));
  expect(warnings.filter((warning) => !warning.includes('/infrastructure/ApiClient.kt'))).toEqual([]);

  const classPath = [join(FOLDER, 'target/classes'), await readFile(libraries, 'utf8')].join(delimiter);
  await expectFlow({ program: 'java', args: ['-cp', classPath, 'FlowKt'] });
});
