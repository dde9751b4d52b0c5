import type { Knex } from 'knex';
import type { Clock } from '../../platform/clock.ts';
import { clearRevoked, clearUnclaimed } from './agent-store.ts';
import { clearClaims } from './claims/claim-store.ts';
import { clearExpiredCredentials } from './credential-store.ts';
import { clearUsedAssertions } from './delegation-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** How long an expired claim is distinguished from an unknown one. */
const CLAIMS_REMEMBERED_MS = DAY_MS;
const REVOKED_REMEMBERED_MS = 30 * DAY_MS;
const CLEARED_AT_ONCE = 1000;

/** Deletes a batch of each kind of expired rows. @returns how many */
export async function clearExpired({
  knex,
  clock,
}: {
  readonly knex: Knex;
  readonly clock: Clock;
}): Promise<number> {
  const ago = (milliseconds: number) => new Date(clock.now().getTime() - milliseconds);
  return (
    (await clearExpiredCredentials(knex, ago(0), CLEARED_AT_ONCE)) +
    (await clearUnclaimed(
      knex,
      ago(DAY_MS + CLAIMS_REMEMBERED_MS),
      ago(CLAIMS_REMEMBERED_MS),
      CLEARED_AT_ONCE,
    )) +
    (await clearClaims(knex, ago(CLAIMS_REMEMBERED_MS), CLEARED_AT_ONCE)) +
    (await clearRevoked(knex, ago(REVOKED_REMEMBERED_MS), CLEARED_AT_ONCE)) +
    (await clearUsedAssertions(knex, ago(0), CLEARED_AT_ONCE))
  );
}
