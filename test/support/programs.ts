import { execFile } from 'node:child_process';

/** What a program printed, and its exit code. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The input of a program besides its arguments. */
export interface Given {
  /** The folder to run it in. */
  readonly cwd?: string;
  /** Its standard input. */
  readonly input?: string;
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** It is killed after this time: two minutes by default. */
  readonly timeoutMs?: number;
}

/** Runs a program until it exits. A missing one has exit code 127, like in a shell. */
export function run(program: string, args: readonly string[], given: Given = {}): Promise<Outcome> {
  const { cwd, input = '', environment, timeoutMs: timeout = 120_000 } = given;
  const options = { cwd, timeout, env: { ...process.env, ...environment }, maxBuffer: 64 * 2 ** 20 };
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code === 'ENOENT' ? 127 : Number(error.code ?? -1);
      resolve({ code, stdout, stderr });
    });
    child.stdin?.on('error', () => {}).end(input);
  });
}

/**
 * Runs a program that must succeed.
 * @throws Error with its output if it fails
 */
export async function demand(program: string, args: readonly string[], given?: Given): Promise<Outcome> {
  const outcome = await run(program, args, given);
  if (outcome.code === 0) return outcome;
  throw new Error(`${program} ${args.join(' ')}: exit ${outcome.code}\n${outcome.stdout}${outcome.stderr}`);
}
