import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/processes.ts';
import { generateClient } from './support/openapi-generator.ts';
import { demand, GENERATORS, run } from './support/programs.ts';

/** It gives a parameter `version` the name of a class of .NET, and renames it, for every contract with one. */
const OF_ITS_OWN =
  'AbstractCSharpCodegen - Version (reserved word) cannot be used as model name. Renamed to ModelVersion';

// The client is only parsed, neither compiled nor run: that needs the .NET SDK.
test('openapi-generator makes a C# client', async () => {
  const folder = await temporaryFolder();
  const warnings = await generateClient('csharp', folder);
  expect(warnings.filter((warning) => warning !== OF_ITS_OWN)).toEqual([]);

  const python = join(folder, 'venv/bin/python');
  const program = join(GENERATORS, 'csharp');
  await demand({ program: 'python3', args: ['-m', 'venv', join(folder, 'venv')] });
  await demand({
    program: python,
    args: ['-m', 'pip', 'install', '-q', '-r', join(program, 'requirements.txt')],
  });
  const check = await run({ program: python, args: [join(program, 'check.py'), join(folder, 'client/src')] });
  expect(check).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ files\n$/) });
});
