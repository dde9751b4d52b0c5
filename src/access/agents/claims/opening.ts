import type { Knex } from 'knex';
import { tokenDigest } from '../../../foundation/tokens/tokens.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';
import { CLAIM_MS } from './claim-state.ts';
import { insertClaim } from './claim-store.ts';
import type { ClaimHandle, NewClaim } from './claim.ts';

/**
 * Opens a claim inside the caller's transaction.
 * @param claimToken a token that the agent already has; a new one if undefined
 */
export type OpenClaim = (trx: Knex.Transaction, claim: NewClaim, claimToken?: string) => Promise<ClaimHandle>;

export function createClaimOpening({
  clock,
  random,
}: {
  readonly clock: Clock;
  readonly random: Random;
}): OpenClaim {
  return async (trx, { agentId, email, type, scopes }, given) => {
    const claimToken = given ?? `clm_${random.bytes(32).toString('base64url')}`;
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + CLAIM_MS);
    await insertClaim(trx, {
      claim_digest: tokenDigest(claimToken),
      agent_id: agentId,
      requested_credential_type: type,
      scopes: [...scopes],
      email,
      developer_id: null,
      view_digest: null,
      attempt_id: null,
      otp_digest: null,
      otp_expires_at: null,
      otp_failures: 0,
      mails: 0,
      mailed_at: null,
      created_at: now,
      expires_at: expiresAt,
      completed_at: null,
      rejected_at: null,
    });
    return { claimToken, expiresAt, postClaimScopes: scopes };
  };
}
