/**
 * The duration of a license as the contract shows it.
 * @param days null for a lifetime
 */
export function toDuration(days: number | null): { duration_days: number | null; lifetime: boolean } {
  return { duration_days: days, lifetime: days === null };
}
