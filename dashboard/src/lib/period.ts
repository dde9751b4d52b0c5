import { sum } from './sum.ts';

/** The days that a reader can choose. */
export const PERIODS = ['7', '30', '90', '366'] as const;

/** A number of the period, and how it differs from the period before. */
interface Compared {
  readonly value: number;
  /** A share, such as 0.25 for a quarter more; null if the period before is unknown or had none. */
  readonly change: number | null;
}

/** Compares the sum of the last days with that of as many days before them. */
export function comparedSum(values: readonly number[], days: number): Compared {
  const value = sum(values.slice(-days));
  const before = sum(values.slice(-days * 2, -days));
  return { value, change: values.length < days * 2 || before === 0 ? null : value / before - 1 };
}

/** Compares the last number with the last one of the period before. */
export function comparedLast(values: readonly number[], days: number): Compared {
  const value = values.at(-1) ?? 0;
  const before = values.at(-1 - days);
  return { value, change: before === undefined || before === 0 ? null : value / before - 1 };
}

/** At most so many series, and the sum of the rest. */
export function topSeries(
  series: readonly { readonly label: string; readonly values: readonly number[] }[],
  most: number,
): { label: string; values: readonly number[] }[] {
  const used = series.filter(({ values }) => values.some((value) => value > 0));
  if (used.length <= most) return used;
  const rest = used.slice(most - 1);
  const values = rest[0]!.values.map((_, at) => sum(rest.map((one) => one.values[at] ?? 0)));
  return [...used.slice(0, most - 1), { label: 'Others', values }];
}
