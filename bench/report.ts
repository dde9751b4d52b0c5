import { cpus } from 'node:os';
import type { Measurement } from './measure.ts';

/** A line of a table with its measurement of every round. */
export interface Row {
  readonly name: string;
  readonly rounds: Measurement[];
}

export interface Table {
  readonly title: string;
  readonly rows: readonly Row[];
  /** The row that the others are held against, round by round. */
  readonly baseline: Row;
  readonly ratioHeader: string;
}

/** Which machine and which versions. */
export function machineLine(postgresVersion: string): string {
  const model = cpus()[0]?.model ?? 'unknown';
  const cores = `${cpus().length} cores (${model.replaceAll(/\s+/g, ' ').trim()})`;
  return `${cores}, ${process.platform} ${process.arch}, Node ${process.version}, PostgreSQL ${postgresVersion}`;
}

/** Medians over the rounds, aligned for a terminal. */
export function formatTable({ title, rows, baseline, ratioHeader }: Table): string {
  const header = ['req/s', 'p50 ms', 'p99 ms', 'node µs', 'db µs', 'total µs', ratioHeader];
  const cells = rows.map((row) => {
    const of = (pick: (measurement: Measurement) => number) => median(row.rounds.map(pick));
    return [
      whole(of(({ perSecond }) => perSecond)),
      of(({ p50 }) => p50).toFixed(2),
      of(({ p99 }) => p99).toFixed(2),
      whole(of(({ node }) => node)),
      whole(of(({ database }) => database)),
      whole(of(({ node, database }) => node + database)),
      ratioTo(baseline, row).toFixed(2),
    ];
  });
  const first = Math.max(title.length, ...rows.map(({ name }) => name.length));
  const widths = header.map((text, column) =>
    Math.max(text.length, ...cells.map((line) => line[column]!.length)),
  );
  const line = (name: string, values: readonly string[]) =>
    [name.padEnd(first), ...values.map((value, column) => value.padStart(widths[column]!))].join('  ');
  const head = line(title, header);
  return [head, '-'.repeat(head.length), ...rows.map(({ name }, index) => line(name, cells[index]!))].join(
    '\n',
  );
}

/** Whether the load generator had room left: near a whole core it would measure itself. */
export function generatorLine(rows: readonly Row[]): string {
  const measurements = rows.flatMap(({ rounds }) => rounds);
  const cost = median(measurements.map(({ generator }) => generator));
  const share = Math.max(...measurements.map(({ generatorShare }) => generatorShare));
  return `load generator: ${whole(cost)} µs a request, at most ${Math.round(share * 100)} % of a core`;
}

/** How far the machine was somebody else's: above some percent, requests a second say little, the µs more. */
export function othersLine(rows: readonly Row[]): string {
  const shares = rows.flatMap(({ rounds }) => rounds).map(({ others }) => others);
  return `other processes: ${whole(median(shares) * 100)} % of the machine`;
}

/** The median of the ratios of each round: what disturbs a whole round disturbs both sides. */
export function ratioTo(baseline: Row, row: Row): number {
  return median(row.rounds.map(({ perSecond }, round) => perSecond / baseline.rounds[round]!.perSecond));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function whole(value: number): string {
  if (Number.isNaN(value)) return '-';
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
