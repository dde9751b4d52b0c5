import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The contract that every generator reads. */
export const CONTRACT = fileURLToPath(new URL('../../../generated/openapi.json', import.meta.url));

/** The folder of the programs around the generated clients. */
export const GENERATORS = fileURLToPath(new URL('..', import.meta.url));

/** A program to run. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** The folder to run it in. */
  readonly cwd?: string;
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a program printed. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it exits, for at most ten minutes. A missing one has exit code 127, like in a shell. */
export function run({ program, args, cwd, environment }: Command): Promise<Outcome> {
  const options = {
    cwd,
    env: { ...process.env, ...environment },
    timeout: 600_000,
    maxBuffer: 64 * 2 ** 20,
  };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code === 'ENOENT' ? 127 : Number(error.code ?? -1);
      resolve({ code, stdout, stderr });
    });
  });
}

/**
 * Runs a program that must succeed.
 * @throws Error with its output if it fails
 */
export async function demand(command: Command): Promise<Outcome> {
  const outcome = await run(command);
  if (outcome.code === 0) return outcome;
  const { program, args } = command;
  throw new Error(`${program} ${args.join(' ')}: exit ${outcome.code}\n${outcome.stdout}${outcome.stderr}`);
}
