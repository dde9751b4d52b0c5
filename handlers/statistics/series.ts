import type { components } from '../../generated/types.ts';
import type { HourlyStatistics, NamedSeries } from '../../src/licensing/statistics/statistics.ts';

/** Series of tiers as the contract shows them. */
export function toTiers(series: readonly NamedSeries[]): { tier: string | null; counts: number[] }[] {
  return series.map(({ name, counts }) => ({ tier: name, counts: [...counts] }));
}

/** Series of versions as the contract shows them. */
export function toVersions(series: readonly NamedSeries[]): { version: string | null; counts: number[] }[] {
  return series.map(({ name, counts }) => ({ version: name, counts: [...counts] }));
}

/** Series of error codes as the contract shows them. */
export function toCodes(series: readonly NamedSeries[]): { code: string; counts: number[] }[] {
  return series.map(({ name, counts }) => ({ code: name ?? '', counts: [...counts] }));
}

/** Series by hour as the contract shows them. */
export function toHourly({ hours, series }: HourlyStatistics): components['schemas']['HourlyStatistics'] {
  return {
    hours: hours.map((hour) => hour.toISOString()),
    series: {
      logins: [...series.logins],
      new_users: [...series.users_new],
      activations: [...series.activations],
      refused_logins: [...series.refused_logins],
    },
  };
}
