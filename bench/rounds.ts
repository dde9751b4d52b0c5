import type { Measurement } from './measure.ts';
import type { Plan } from './plan.ts';
import type { Row } from './report.ts';

/** A row and how it is measured. */
export interface Measured extends Row {
  run(ms: number): Promise<Measurement>;
}

export function measuredRow(name: string, run: Measured['run']): Measured {
  return { name, rounds: [], run };
}

/** Every row in turn, several rounds: what disturbs the machine for a while disturbs all of them. */
export async function runRounds(
  title: string,
  rows: readonly Measured[],
  { rounds, roundMs, warmUpMs }: Plan,
): Promise<void> {
  for (const { run } of rows) await run(warmUpMs);
  for (let round = 1; round <= rounds; round += 1) {
    process.stderr.write(`${title}: round ${round} of ${rounds}\n`);
    for (const row of rows) row.rounds.push(await row.run(roundMs));
  }
}
