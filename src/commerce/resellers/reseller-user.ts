import type { Standing } from '../../licensing/subscriptions/subscriptions.ts';

/** A user who has redeemed a license of the reseller, as the reseller sees them. */
export interface ResellerUser {
  readonly userId: string;
  readonly username: string;
  readonly appId: string;
  readonly subscription: Standing;
}
