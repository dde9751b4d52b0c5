import type { NamedSeries } from '../../src/licensing/statistics/statistics.ts';

/** Series of tiers as the contract shows them. */
export function toTiers(series: readonly NamedSeries[]): { tier: string | null; counts: number[] }[] {
  return series.map(({ name, counts }) => ({ tier: name, counts: [...counts] }));
}

/** Series of versions as the contract shows them. */
export function toVersions(series: readonly NamedSeries[]): { version: string | null; counts: number[] }[] {
  return series.map(({ name, counts }) => ({ version: name, counts: [...counts] }));
}
