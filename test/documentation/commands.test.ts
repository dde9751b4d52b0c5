import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  spawnService,
  temporaryDataDir,
  temporaryFolder,
  type ServiceProcess,
} from '../support/processes.ts';
import { codeBlocks, markdownFiles, readDocument, ROOT, type CodeBlock } from './markdown.ts';

const run = promisify(execFile);

/** README, then the guides in the order of the index, because a guide builds on those before it. */
const DOCUMENTS = [
  'README.md',
  ...[...readDocument('docs/README.md').matchAll(/\]\((guides\/[\w-]+\.md)\)/g)].map(
    (match) => `docs/${match[1]}`,
  ),
];

/** Installing, starting and testing, which `npm test` does itself. */
const isCall = ({ language, text }: CodeBlock) => language === 'sh' && !text.startsWith('npm ');

/**
 * Shows in a failure what a command received and did not print. Retries a 503 of a slow disk, as the response says, so
 * that no loop waits for what was never created. A command with a time limit ends by it.
 */
const LOGGED = `
curl() {
  case "$*" in *' -m '*) RETRIES=0 ;; *) RETRIES=5 ;; esac
  command curl --retry $RETRIES "$@" | tee -a "$RESPONSES"
}
`;

/** Of one document: less than the test has, so that a loop that never ends shows its responses. */
const TIMEOUT_MS = 60_000;

test('the index lists every guide', () => {
  const guides = markdownFiles().filter((file) => file.startsWith('docs/guides/'));
  expect(DOCUMENTS.slice(1).sort()).toEqual(guides);
});

test('commands of README and of the guides work as printed', async () => {
  const dataDir = await temporaryDataDir();
  const service = await spawnService({ DATA_DIR: dataDir });
  const folder = await temporaryFolder();
  const values = shownValues(service);

  for (const file of DOCUMENTS) {
    const blocks = codeBlocks(readDocument(file));
    const calls = blocks.filter(isCall);
    const script = calls
      .map(({ text, line }) => `printf '\\n@line %s\\n' ${line}\n${text}`)
      .join('')
      .replace(/^(URL|APP_ID|SECRET|KEY)=\S+$/gm, (_, name: string) => `${name}=${values(name)}`)
      .replaceAll('/tmp/', `${folder}/`)
      .replaceAll(' data/', ` ${dataDir}/`);
    const log = `${folder}/responses`;
    const result = await run('sh', ['-euc', LOGGED + script], {
      cwd: ROOT,
      env: { ...process.env, RESPONSES: log },
      timeout: TIMEOUT_MS,
    }).catch((error: unknown) => error);
    const { stdout, stderr, code, signal } = result as Result;
    if (code || signal || stderr) {
      const responses = await readFile(log, 'utf8').catch(() => '');
      const output = `output: …${stdout.slice(-1000)}\nresponses: …${responses.slice(-2000)}`;
      expect.fail(`${file}, ${signal ?? `exit code ${code ?? 0}`}\n${stderr}\n${output}`);
    }

    const outputs = new Map(
      stdout
        .split(/^@line /m)
        .slice(1)
        .map((part) => [Number.parseInt(part), part.slice(part.indexOf('\n')).trim()] as const),
    );
    for (const [index, block] of blocks.entries()) {
      if (!isCall(block)) continue;
      const next = blocks[index + 1];
      const printed = next?.follows && ['json', 'csv', 'text'].includes(next.language) ? next : undefined;
      const output = outputs.get(block.line)!;
      const where = `${file}:${(printed ?? block).line}`;
      if (printed === undefined) expect(refusals(output), `${where}: no error is expected`).toEqual([]);
      else {
        const actual = printed.language === 'json' ? lastJson(output) : output;
        const expected = printed.language === 'json' ? JSON.parse(printed.text) : printed.text.trim();
        expect(comparable(actual), `${where}: the response is not the printed one`).toBe(
          comparable(expected),
        );
      }
    }
  }
}, 300_000);

interface Result {
  readonly stdout: string;
  readonly stderr: string;
  readonly code?: number | null;
  readonly signal?: string | null;
}

/** Values for placeholders, from the terminal. The first license key is for its own commands, so each `KEY` differs. */
function shownValues(service: ServiceProcess): (name: string) => string {
  const shown = (name: string) =>
    [...service.output().stdout.matchAll(new RegExp(`^ *${name} +(\\S+)`, 'gm'))].map((match) => match[1]!);
  const keys = shown('license key').slice(1);
  const others: Record<string, string> = {
    URL: shown('address')[0]!,
    APP_ID: shown('app_id')[0]!,
    SECRET: shown('secret')[0]!,
  };
  return (name) => (name === 'KEY' ? keys.shift()! : others[name]!);
}

/** Every line that is a JSON object. */
const jsonLines = (output: string): Record<string, unknown>[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const lastJson = (output: string): unknown => jsonLines(output).at(-1);

/** The error responses of an output. */
const refusals = (output: string): unknown[] => jsonLines(output).filter(({ code }) => code !== undefined);

/**
 * The same text for two responses that differ only in what always differs: identifiers, keys, tokens, times and the
 * host. A printed value may be shortened with `…`.
 */
function comparable(response: unknown): string {
  const text = typeof response === 'string' ? response : JSON.stringify(response, undefined, 2);
  return text
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/(?:\b[0-9A-Z]{5})?(?:-[0-9A-Z]{4,5}){4}\b/g, '<key>')
    .replace(/[\w.+/=-]*…|\bwhsec_[\w+/]+=*/g, '<value>')
    .replace(/(?<![\w.+/=-])(?:[a-z]{2,4}_)?(?!(?:[A-Z_]+|[a-z_-]+)(?![\w.+=-]))[\w.+=-]{22,}/g, '<value>');
}
