import { ApiError } from '../../../foundation/errors/api-error.ts';
import type { AgentRow } from '../agent-store.ts';
import { claimState } from './claim-state.ts';
import type { ClaimRow } from './claim-store.ts';

/**
 * @param claimedError the error code of auth.md for an agent that is already claimed
 * @returns the agent of an open claim
 * @throws ApiError INVALID_CLAIM_TOKEN, ALREADY_CLAIMED, CLAIM_EXPIRED
 */
export function openAgent(
  claim: ClaimRow,
  agent: AgentRow | undefined,
  now: Date,
  claimedError: 'claimed_or_in_flight' | 'previously_claimed',
): AgentRow {
  const state = claimState(claim, now);
  if (!agent || agent.revoked_at || state === 'rejected') throw invalidClaimToken();
  if (state === 'claimed' || agent.developer_id !== null) {
    throw new ApiError('ALREADY_CLAIMED', { members: { error: claimedError } });
  }
  if (state === 'expired') throw new ApiError('CLAIM_EXPIRED', { members: { error: 'claim_expired' } });
  return agent;
}

/** @throws ApiError INVALID_CLAIM_TOKEN for an unknown token */
export function known<Row>(row: Row | undefined): Row {
  if (row === undefined) throw invalidClaimToken();
  return row;
}

export function invalidClaimToken(): ApiError {
  return new ApiError('INVALID_CLAIM_TOKEN', { members: { error: 'invalid_claim_token' } });
}
