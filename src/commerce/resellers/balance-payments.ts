import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { LARGEST_MINOR } from '../../foundation/money/money.ts';
import type { LockedAccount, Ledger, Posted } from './ledger.ts';
import { lockAnyResellerForUpdate } from './reseller-store.ts';

/** A payment for a reseller's balance, in the reseller's currency. */
export interface BalancePayment {
  readonly resellerId: string;
  /** In minor units, above 0. */
  readonly amountMinor: number;
  /** The id of the invoice, which refers to the payment in the ledger. */
  readonly reference: string;
}

/** The reseller's money after a payment, in minor units. */
export interface AfterPayment {
  /** The first ledger entry that was written; null when there was nothing to write. */
  readonly entryId: string | null;
  readonly balanceMinor: number;
  readonly owedMinor: number;
  readonly waitingMinor: number;
}

/**
 * Applies payments to the balances of resellers. Each method runs inside the caller's transaction, which
 * ensures that it runs once for each payment and that the currency is the reseller's. The call locks the
 * reseller, so it comes late in the transaction. It works for suspended and deleted resellers too: the money
 * has already moved, and the developer needs the ledger to refund it.
 *
 * A reseller's total is the balance plus the waiting amount, less the debt. The total alone determines the
 * parts: there is debt only with an empty balance, and a waiting amount only with a full one. A reversal
 * lowers the total and its undoing raises it by the same amount, so that both together change nothing,
 * regardless of what happens in between. Each method throws ApiError RESELLER_NOT_FOUND for a reseller who
 * was never the developer's.
 */
export interface ResellerPayments {
  /**
   * Credits a payment. What exceeds the largest balance waits, and is credited as soon as the balance allows.
   */
  topUp(
    trx: Knex.Transaction,
    actor: Actor,
    payment: BalancePayment & { readonly note: string | null },
  ): Promise<AfterPayment>;
  /** Reverses a payment that was refunded or is disputed. What exceeds the balance becomes debt. */
  takeBack(trx: Knex.Transaction, actor: Actor, payment: BalancePayment): Promise<AfterPayment>;
  /**
   * Undoes a reversal, as for a dispute that was won: it pays the debt first, and credits the rest as a
   * top-up.
   */
  giveBack(trx: Knex.Transaction, actor: Actor, payment: BalancePayment): Promise<AfterPayment>;
}

export function createResellerPayments(ledger: Ledger): ResellerPayments {
  async function lockAccount(
    trx: Knex.Transaction,
    { developerId }: Actor,
    { resellerId, amountMinor }: BalancePayment,
  ): Promise<LockedAccount> {
    if (!Number.isInteger(amountMinor) || amountMinor <= 0 || amountMinor > LARGEST_MINOR) {
      throw new RangeError(`${amountMinor} is not a valid amount of a payment`);
    }
    const reseller = await lockAnyResellerForUpdate(trx, resellerId);
    if (reseller?.developer_id !== developerId) throw new ApiError('RESELLER_NOT_FOUND');
    return reseller;
  }

  async function add(
    trx: Knex.Transaction,
    actor: Actor,
    account: LockedAccount,
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
      const account = await lockAccount(trx, actor, payment);
      return toAfterPayment(await add(trx, actor, account, account.owed_minor, payment));
    },

    async takeBack(trx, actor, payment) {
      const { amountMinor, reference } = payment;
      const account = await lockAccount(trx, actor, payment);
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
      const account = await lockAccount(trx, actor, payment);
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
