import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { temporaryFolder } from '../support/processes.ts';
import { expectFlow } from './support/flow.ts';
import { generateClient } from './support/openapi-generator.ts';
import { demand, GENERATORS } from './support/programs.ts';

test('openapi-generator', async () => {
  const folder = await temporaryFolder(atFileEnd);
  await cp(join(GENERATORS, 'java'), folder, { recursive: true });

  const warnings = await generateClient('java', folder);
  // It warns of every example of a request body that is an object.
  expect(warnings.filter((warning) => !warning.includes('Ignoring complex example'))).toEqual([]);

  await demand({ program: 'mvn', args: ['--quiet', '--batch-mode', 'compile'], cwd: folder });
  const target = join(folder, 'flow/target');
  const libraries = await readFile(join(target, 'classpath'), 'utf8');
  // The client puts what it downloads into temporary files.
  const options = [`-Djava.io.tmpdir=${target}`, '-classpath', `${target}/classes:${libraries}`];
  await expectFlow({ program: 'java', args: [...options, 'Flow'] });
});
