import { standing, type Standing } from '../subscriptions/subscriptions.ts';
import type { CustomerRow } from './customer-store.ts';

/** A user who has redeemed one of the reseller's licences, as far as the reseller may see. */
export interface OwnUser {
  readonly userId: string;
  readonly username: string;
  readonly appId: string;
  readonly subscription: Standing;
}

/** A row as the reseller sees it. */
export function toOwnUser(row: CustomerRow, now: Date): OwnUser {
  const stretches = row.tiers.map((tier, index) => ({ tier, ends_at: row.ends[index]! }));
  const pause = { pausedAt: row.paused_at, pausedTotalMs: row.paused_total_ms };
  return {
    userId: row.user_id,
    username: row.username,
    appId: row.app_id,
    subscription: standing(stretches, pause, now),
  };
}
