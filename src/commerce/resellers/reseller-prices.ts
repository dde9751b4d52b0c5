import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { findOwned, lockOwnedForUpdate } from './owned-resellers.ts';
import { replacePrices } from './price-store.ts';
import { toPriceRows, usablePrices, type NewPrice, type Price } from './prices.ts';

/** The price lists of a developer's resellers. */
export interface ResellerPrices {
  /**
   * Replaces the price list.
   * @throws ApiError RESELLER_NOT_FOUND; VALIDATION_FAILED for applications and tiers that are not the
   *   developer's, amounts that the currency cannot represent, and two prices for the same keys
   */
  setPrices(actor: Actor, resellerId: string, prices: readonly NewPrice[]): Promise<Price[]>;
  /** The prices of applications and tiers that still exist. @throws ApiError RESELLER_NOT_FOUND */
  listPrices(developerId: string, resellerId: string): Promise<Price[]>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Pick<Applications, 'findOfDeveloper'>;
  readonly audit: Audit;
}

export function createResellerPrices({ knex, applications, audit }: Dependencies): ResellerPrices {
  return {
    async setPrices(actor, resellerId, wanted) {
      return knex.transaction(async (trx) => {
        const reseller = await lockOwnedForUpdate(trx, actor.developerId, resellerId);
        const appIds = [...new Set(wanted.map(({ appId }) => appId))];
        const own = await applications.findOfDeveloper(trx, actor.developerId, appIds);
        await replacePrices(trx, resellerId, toPriceRows(reseller, wanted, own));
        await audit.record(trx, actor, {
          action: 'reseller.priced',
          target: resellerId,
          data: { prices: wanted.length },
        });
        return usablePrices(trx, applications, reseller);
      });
    },

    async listPrices(developerId, resellerId) {
      return usablePrices(knex, applications, await findOwned(knex, developerId, resellerId));
    },
  };
}
