import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import { ApiError } from '../errors/api-error.ts';
import { LARGEST_MINOR } from '../money/money.ts';
import type { HeldAccount, Ledger, Posted } from './ledger.ts';
import { lockResellerEver } from './reseller-store.ts';

/** A payment for a reseller's balance, in his currency. */
export interface BalancePayment {
  readonly resellerId: string;
  /** In minor units, above 0. */
  readonly amountMinor: number;
  /** Names the payment in the ledger: the id of its invoice. */
  readonly reference: string;
}

/** How things stand after it, in minor units. */
export interface AfterPayment {
  /** The first entry of the ledger that was written; null when there was nothing to write. */
  readonly entryId: string | null;
  readonly balanceMinor: number;
  readonly owedMinor: number;
  readonly waitingMinor: number;
}

/**
 * What payments do to the balances of resellers. Each runs inside the caller's transaction, which sees to it that it happens
 * once for each payment and that the currency is the reseller's; from the call on that transaction holds the reseller, so it
 * comes late. A reseller who was suspended or deleted in the meantime is served all the same: the money has moved already, and
 * books that say so are what the developer can give it back by.
 *
 * What a reseller has in all is his balance and what waits, less what he owes. That sum alone says how it is divided: he owes
 * with an empty balance only, and something waits beside a full one only. A take back lowers the sum and a give back raises it
 * again, so that both together change nothing, whatever happened in between.
 * Each throws ApiError RESELLER_NOT_FOUND for a reseller who never was the developer's.
 */
export interface ResellerPayments {
  /** Adds what was paid. What a full balance does not hold waits, and comes onto it as soon as there is room. */
  topUp(
    trx: Knex.Transaction,
    actor: Actor,
    payment: BalancePayment & { readonly note: string | null },
  ): Promise<AfterPayment>;
  /** Takes back what was refunded to the payer or is disputed. What the balance does not have is owed from now on. */
  takeBack(trx: Knex.Transaction, actor: Actor, payment: BalancePayment): Promise<AfterPayment>;
  /** Undoes a take back, as for a dispute that was won: first what is owed, then the rest as a top-up. */
  giveBack(trx: Knex.Transaction, actor: Actor, payment: BalancePayment): Promise<AfterPayment>;
}

export function createResellerPayments(ledger: Ledger): ResellerPayments {
  async function hold(
    trx: Knex.Transaction,
    { developerId }: Actor,
    { resellerId, amountMinor }: BalancePayment,
  ): Promise<HeldAccount> {
    if (!Number.isInteger(amountMinor) || amountMinor <= 0 || amountMinor > LARGEST_MINOR) {
      throw new RangeError(`${amountMinor} is no amount that is paid`);
    }
    const reseller = await lockResellerEver(trx, resellerId);
    if (reseller?.developer_id !== developerId) throw new ApiError('RESELLER_NOT_FOUND');
    return reseller;
  }

  async function add(
    trx: Knex.Transaction,
    actor: Actor,
    account: HeldAccount,
    owed_minor: number,
    { amountMinor, reference, note }: { amountMinor: number; reference: string; note?: string | null },
  ): Promise<Posted> {
    const held = Math.min(amountMinor, LARGEST_MINOR - account.balance_minor);
    const waiting_minor = account.waiting_minor + amountMinor - held;
    return ledger.post(
      trx,
      actor,
      account,
      held > 0 ? [{ kind: 'top_up', amountMinor: held, reference, note: note ?? null }] : [],
      { owed_minor, waiting_minor },
    );
  }

  return {
    async topUp(trx, actor, payment) {
      const account = await hold(trx, actor, payment);
      return toAfterPayment(await add(trx, actor, account, account.owed_minor, payment));
    },

    async takeBack(trx, actor, payment) {
      const { amountMinor, reference } = payment;
      const account = await hold(trx, actor, payment);
      const taken = Math.min(amountMinor, account.balance_minor);
      const owed_minor = account.owed_minor + amountMinor - taken;
      const posted = await ledger.post(
        trx,
        actor,
        account,
        taken > 0 ? [{ kind: 'reversal', amountMinor: -taken, reference }] : [],
        { owed_minor },
      );
      return toAfterPayment(posted);
    },

    async giveBack(trx, actor, payment) {
      const { amountMinor, reference } = payment;
      const account = await hold(trx, actor, payment);
      const forgiven = Math.min(amountMinor, account.owed_minor);
      const rest = { amountMinor: amountMinor - forgiven, reference };
      return toAfterPayment(await add(trx, actor, account, account.owed_minor - forgiven, rest));
    },
  };
}

function toAfterPayment({ entries, balance_minor, owed_minor, waiting_minor }: Posted): AfterPayment {
  return {
    entryId: entries[0]?.entryId ?? null,
    balanceMinor: balance_minor,
    owedMinor: owed_minor,
    waitingMinor: waiting_minor,
  };
}
