import { fileURLToPath } from 'node:url';
import * as programs from '../../support/programs.ts';

/** The contract that every generator reads. */
export const CONTRACT = fileURLToPath(new URL('../../../generated/openapi.json', import.meta.url));

/** The folder of the programs around the generated clients. */
export const GENERATORS = fileURLToPath(new URL('..', import.meta.url));

/** Compilers take minutes on a busy machine. */
const TIMEOUT_MS = 600_000;

export type { Outcome } from '../../support/programs.ts';

/** A program to run. */
export interface Command extends Omit<programs.Given, 'timeoutMs'> {
  readonly program: string;
  readonly args: readonly string[];
}

/** Runs a program until it exits, for at most ten minutes. */
export function run({ program, args, ...given }: Command): Promise<programs.Outcome> {
  return programs.run(program, args, { ...given, timeoutMs: TIMEOUT_MS });
}

/**
 * Runs a program that must succeed.
 * @throws Error with its output if it fails
 */
export function demand({ program, args, ...given }: Command): Promise<programs.Outcome> {
  return programs.demand(program, args, { ...given, timeoutMs: TIMEOUT_MS });
}
