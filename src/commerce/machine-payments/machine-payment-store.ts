import type { Knex } from 'knex';

export interface MachinePaymentRow {
  readonly challenge_id: string;
  readonly reference: string;
  /**
   * `claimed`: may have been charged. `settled`: charged, and access was granted. `declined` by the
   * processor.
   */
  readonly state: 'claimed' | 'settled' | 'declined';
  /** In base units of the currency. */
  readonly amount: number;
  readonly currency: string;
  readonly spt_digest: Buffer;
  readonly payment_ref: string | null;
  readonly token_digest: Buffer | null;
  /** When the token expires. */
  readonly expires_at: Date | null;
  readonly created_at: Date;
}

const PAYMENTS = 'machine_payments';

/** Records that a challenge is being paid. @returns the first claim: the given row, or the one before it */
export async function claimChallenge(
  db: Knex,
  row: Omit<MachinePaymentRow, 'state' | 'payment_ref' | 'token_digest' | 'expires_at'>,
): Promise<MachinePaymentRow | undefined> {
  const [inserted] = await db<MachinePaymentRow>(PAYMENTS)
    .insert({ ...row, state: 'claimed' })
    .onConflict('challenge_id')
    .ignore()
    .returning('*');
  return inserted ?? findClaim(db, row.challenge_id);
}

export async function findClaim(db: Knex, challengeId: string): Promise<MachinePaymentRow | undefined> {
  return db<MachinePaymentRow>(PAYMENTS).where({ challenge_id: challengeId }).first();
}

/** @returns whether the claim was unsettled: of several requests only one settles it */
export async function settleClaim(
  db: Knex,
  challengeId: string,
  settled: Pick<MachinePaymentRow, 'payment_ref' | 'token_digest' | 'expires_at'>,
): Promise<boolean> {
  const updated = await db<MachinePaymentRow>(PAYMENTS)
    .where({ challenge_id: challengeId, state: 'claimed' })
    .update({ ...settled, state: 'settled' });
  return updated === 1;
}

export async function declineClaim(db: Knex, challengeId: string): Promise<void> {
  await db<MachinePaymentRow>(PAYMENTS)
    .where({ challenge_id: challengeId, state: 'claimed' })
    .update({ state: 'declined' });
}

export async function findAgentToken(db: Knex, tokenDigest: Buffer): Promise<MachinePaymentRow | undefined> {
  return db<MachinePaymentRow>(PAYMENTS).where({ token_digest: tokenDigest }).first();
}

/** Deletes expired tokens, but keeps their payments. @returns how many */
export async function clearExpiredTokens(db: Knex, expiredBefore: Date, limit: number): Promise<number> {
  const some = db(PAYMENTS)
    .whereNotNull('token_digest')
    .where('expires_at', '<', expiredBefore)
    .limit(limit)
    .select('challenge_id');
  return db(PAYMENTS).whereIn('challenge_id', some).update({ token_digest: null });
}

/** @returns how many */
export async function clearOldPayments(db: Knex, createdBefore: Date, limit: number): Promise<number> {
  const some = db(PAYMENTS).where('created_at', '<', createdBefore).limit(limit).select('challenge_id');
  return db(PAYMENTS).whereIn('challenge_id', some).delete();
}
