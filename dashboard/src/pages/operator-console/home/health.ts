import type { Installation } from './queries.ts';

/** Something that the operator should look at. */
interface Finding {
  readonly code: string;
  readonly message: string;
  /** Whether something does not work now. Everything else is a setting that deserves attention. */
  readonly isFault: boolean;
}

const FAULTS: ReadonlySet<string> = new Set([
  'LOST_NODES',
  'DIFFERENT_VERSIONS',
  'CLOCK_SKEW',
  'STANDBY_LOST',
  'SET_ASIDE',
  'FAILED_MAILS',
  'PENDING_MIGRATIONS',
]);

/** What does not work, and then the settings that deserve attention. */
export function findingsOf({ database, broker, warnings }: Installation): readonly Finding[] {
  const parts = [
    [database.state, 'DATABASE_UNAVAILABLE', 'The database did not respond within 2 seconds.'],
    [broker.state, 'BROKER_UNAVAILABLE', 'The broker did not respond within 2 seconds.'],
  ] as const;
  const unavailable = parts
    .filter(([state]) => state === 'unavailable')
    .map(([, code, message]) => ({ code, message, isFault: true }));
  const warned = warnings.map(({ code, message }) => ({ code, message, isFault: FAULTS.has(code) }));
  const all = [...unavailable, ...warned];
  return [...all.filter(({ isFault }) => isFault), ...all.filter(({ isFault }) => !isFault)];
}
