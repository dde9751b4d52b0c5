import type { Knex } from 'knex';
import type { Actor } from '../../../foundation/audit/audit.ts';
import type { PaymentFact } from '../../../platform/payments/index.ts';
import type { AffectedDevelopers } from './affected-developers.ts';

/**
 * Records a fact, and grants or takes back what follows from it, except for the plan: developers whose plan may have
 * changed are added to `affected`. The caller's transaction holds the lock of settlements.
 * @throws Mismatch if the fact does not fit its purchase
 */
export type Settler<Fact extends PaymentFact> = (
  trx: Knex.Transaction,
  fact: Fact,
  address: string,
  affected: AffectedDevelopers,
) => Promise<void>;

/** The facts of one kind. */
export type FactOf<Kind extends PaymentFact['kind']> = Extract<PaymentFact, { kind: Kind }>;

/** The actor of a settlement in the audit log: the payment processor. */
export function settlementActor(
  processor: string,
  { developer_id: developerId }: { readonly developer_id: string },
  address: string,
): Actor {
  return { kind: 'service', id: processor, developerId, address };
}
