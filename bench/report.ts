import { cpus } from 'node:os';
import type { Measurement } from './measure.ts';

/** A line of a table with its measurement of every round. */
export interface Row {
  readonly name: string;
  readonly rounds: Measurement[];
}

/** A column of a table: its header, and what it says of a row. */
export interface Column<Line> {
  readonly header: string;
  of(line: Line): string;
}

/** One figure of a measurement. */
type Figure = (measurement: Measurement) => number;

export const perSecond: Figure = (measurement) => measurement.perSecond;
/** Microseconds of processor time a request, of server and database together. */
export const cpuOf: Figure = ({ node, database }) => node + database;

/** Medians over the rounds, and how they compare with another row of the same rounds. */
export function standardColumns(baselineOf: (row: Row) => Row, baselineName: string): Column<Row>[] {
  const compared = (figure: Figure) => comparison(`to ${baselineName}`, baselineOf, figure);
  return [
    { header: 'req/s', of: (row) => whole(medianOf(row, perSecond)) },
    compared(perSecond),
    { header: 'p50 ms', of: (row) => medianOf(row, ({ p50 }) => p50).toFixed(2) },
    { header: 'p99 ms', of: (row) => medianOf(row, ({ p99 }) => p99).toFixed(2) },
    { header: 'server µs', of: (row) => whole(medianOf(row, ({ node }) => node)) },
    { header: 'database µs', of: (row) => whole(medianOf(row, ({ database }) => database)) },
    { header: 'CPU µs', of: (row) => whole(medianOf(row, cpuOf)) },
    compared(cpuOf),
  ];
}

/** How a row compares with another of the same rounds. */
export function comparison(header: string, baselineOf: (row: Row) => Row, figure: Figure): Column<Row> {
  return { header, of: (row) => ratio(ratioTo(baselineOf(row), row, figure)) };
}

/** Aligned for a terminal. */
export function formatTable<Line extends { readonly name: string }>(
  title: string,
  lines: readonly Line[],
  columns: readonly Column<Line>[],
): string {
  const cells = lines.map((line) => columns.map((column) => column.of(line)));
  const first = Math.max(title.length, ...lines.map(({ name }) => name.length));
  const widths = columns.map(({ header }, column) =>
    Math.max(header.length, ...cells.map((line) => line[column]!.length)),
  );
  const format = (name: string, values: readonly string[]) =>
    [name.padEnd(first), ...values.map((value, column) => value.padStart(widths[column]!))].join('  ');
  const head = format(
    title,
    columns.map(({ header }) => header),
  );
  const body = lines.map(({ name }, index) => format(name, cells[index]!));
  return [head, '-'.repeat(head.length), ...body].join('\n');
}

/** Which machine and which versions. */
export function machineLine(postgresVersion: string): string {
  const model = cpus()[0]?.model ?? 'unknown';
  const cores = `${cpus().length} cores (${model.replaceAll(/\s+/g, ' ').trim()})`;
  return `${cores}, ${process.platform} ${process.arch}, Node ${process.version}, PostgreSQL ${postgresVersion}`;
}

/** Whether the load generator had capacity left: near a whole core it would measure itself. */
export function generatorLine(rows: readonly Row[], name = 'load generator'): string {
  const measurements = rows.flatMap(({ rounds }) => rounds);
  const cost = median(measurements.map(({ generator }) => generator));
  const share = Math.max(...measurements.map(({ generatorShare }) => generatorShare));
  return `${name}: ${whole(cost)} µs a request, at most ${Math.round(share * 100)} % of a core`;
}

/** How busy other programs kept the machine: above a few percent, requests per second say little, the µs more. */
export function othersLine(rows: readonly Row[]): string {
  const shares = rows.flatMap(({ rounds }) => rounds).map(({ others }) => others);
  return `other processes: ${whole(median(shares) * 100)} % of the machine`;
}

/** The median of the ratios of each round: what disturbs a whole round disturbs both sides. */
export function ratioTo(baseline: Row, row: Row, figure: Figure): number {
  return median(
    row.rounds.map((measurement, round) => figure(measurement) / figure(baseline.rounds[round]!)),
  );
}

/** The median of a figure over the rounds. */
export function medianOf(row: Row, figure: Figure): number {
  return median(row.rounds.map(figure));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** With the significant digits. */
export function ratio(value: number): string {
  if (Number.isNaN(value)) return '-';
  if (value >= 9.95) return whole(value);
  return value < 0.095 ? value.toPrecision(2) : value.toFixed(2);
}

/** Without digits behind the point, unless it is small. */
export function whole(value: number): string {
  if (Number.isNaN(value)) return '-';
  return value < 9.95 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
