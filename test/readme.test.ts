import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { spawnService, temporaryDataDir, temporaryFolder } from './support/processes.ts';

const run = promisify(execFile);

/** The shell blocks of a section, as they are printed. */
function shellBlocks(readme: string, heading: string): string[] {
  const section = readme.split(/^## /m).find((part) => part.startsWith(heading))!;
  return [...section.matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1]!);
}

test("README's calls work as printed, with the values that the terminal shows", async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const dataDir = await temporaryDataDir();
  const service = await spawnService({ DATA_DIR: dataDir });
  const shown = (name: string) => new RegExp(`^ *${name} +(\\S+)`, 'm').exec(service.output().stdout)![1]!;
  const values = {
    URL: shown('address'),
    APP_ID: shown('app_id'),
    SECRET: shown('secret'),
    KEY: shown('license key'),
  };

  const [variables, ...calls] = shellBlocks(readme, 'The calls of a client program');
  const set = variables!.replace(
    /^(URL|APP_ID|SECRET|KEY)=.*$/gm,
    (_, name: keyof typeof values) => `${name}=${values[name]}`,
  );
  const further = ["The developer's side", 'Money', 'Agents'].flatMap((heading) =>
    shellBlocks(readme, heading),
  );
  const script = [set, ...calls, ...further]
    .join('')
    .replaceAll('/tmp/', `${await temporaryFolder()}/`)
    .replaceAll(' data/', ` ${dataDir}/`)
    .replace(/^(curl .*)$/gm, '$1; echo');
  const { stdout } = await run('sh', ['-euc', script]);

  const lines = stdout.trim().split('\n');
  const answers = lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(answers.map(({ status, code }) => code ?? status)).toEqual([
    ...Array<string>(7).fill('success'),
    'VALIDATION_FAILED',
    ...Array<string>(13).fill('success'),
    'PAYMENT_REQUIRED',
    undefined,
    'success',
    'success',
    'initiated',
    'success',
  ]);
  expect(lines.filter((line) => /^AURORA(-[0-9A-Z]{4}){4},Pro,30,Order 1001,/.test(line))).toHaveLength(3);
  expect(lines).toContain('206');
  expect(lines).toContain('303');
  expect(stdout).toMatch(/^WWW-Authenticate: Payment id=/m);
  expect(answers[3]).toMatchObject({ valid: true, username: 'ada' });

  const printed = [...readme.matchAll(/^```json\n(.*?)^```/gms)].map(
    (match) => JSON.parse(match[1]!) as (typeof answers)[0],
  );
  expect(printed.map((answer) => Object.keys(answer))).toEqual(
    answers.slice(0, 8).map((answer) => Object.keys(answer)),
  );
}, 120_000);
