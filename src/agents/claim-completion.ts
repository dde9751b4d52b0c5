import type { Knex } from 'knex';
import type { Audit } from '../audit/audit.ts';
import type { Developers, Scope } from '../developers/developers.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Keys } from '../keys/keys.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { isSameSecret } from '../platform/constant-time.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import { agentActor } from './agent-actor.ts';
import * as agentStore from './agent-store.ts';
import { ASSERTION_CREDENTIALS, type ClaimRequest, type CompletedClaim } from './agents.ts';
import { known, openAgent } from './claim-faults.ts';
import { isCodeLive, readCode } from './claim-state.ts';
import * as store from './claim-store.ts';
import { requestedType } from './credential-choice.ts';
import type { Credentials } from './credentials.ts';
import { grantDelegation } from './delegation.ts';
import { lockSubject } from './delegation-store.ts';
import type { Revocation } from './revocation.ts';

export interface CompletionDependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'find' | 'openAccount' | 'noteVerified'>;
  readonly credentials: Credentials;
  readonly revocation: Pick<Revocation, 'revokeWhere'>;
  readonly keys: Pick<Keys, 'claimCodeDigest'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The last step of a claim: with the code of the page the agent becomes somebody's, once. */
export function createClaimCompletion(deps: CompletionDependencies) {
  const { knex, developers, credentials, revocation, keys, audit, clock } = deps;

  /**
   * Whose the agent becomes.
   * @returns undefined where an account has to be signed in to, and was not
   */
  async function developerFor(
    trx: Knex.Transaction,
    { email, developer_id: confirmedBy }: store.ClaimRow,
    client: Client,
  ): Promise<string | undefined> {
    const account = await developers.find(trx, email!);
    // Undefined also where somebody opens the account at this moment: it may have a password.
    if (!account) return developers.openAccount(trx, { email: email!, verified: true }, client);
    const { developerId, hasPassword } = account;
    if (hasPassword && confirmedBy !== developerId) return undefined;
    await developers.noteVerified(trx, developerId);
    return developerId;
  }

  /** An issuer's word counts from now on, and the agent stands for what was there of its kind before. */
  async function delegate(
    trx: Knex.Transaction,
    { agent_id: agentId, issuer, subject, client_id: clientId }: agentStore.AgentRow,
    developerId: string,
    client: Client,
  ): Promise<void> {
    if (issuer === null || subject === null || clientId === null) return;
    const before = await agentStore.lockAgentOfSubject(trx, { issuer, subject }, clientId);
    if (before) {
      await revocation.revokeWhere(
        trx,
        { agent_id: before.agent_id },
        {
          actor: (of) => agentActor(agentId, of, client),
          initiatingEntity: 'policy',
          reason: 'superseded',
        },
      );
    }
    await grantDelegation(deps, trx, { issuer, subject }, { agentId, developerId }, client);
  }

  async function complete(
    claimToken: string,
    otp: string,
    request: ClaimRequest,
    client: Client,
  ): Promise<CompletedClaim> {
    const { requestedCredentialType } = request;
    const asked =
      requestedCredentialType === undefined
        ? undefined
        : requestedType(requestedCredentialType, ASSERTION_CREDENTIALS);
    const digest = tokenDigest(claimToken);
    const seen = known(await store.findClaim(knex, digest));
    const seenAgent = known(await agentStore.findAgent(knex, seen.agent_id));

    // What it has come to is kept also where it is a refusal.
    const result = await knex.transaction(async (trx): Promise<CompletedClaim | ApiError> => {
      const { issuer, subject } = seenAgent;
      if (issuer !== null && subject !== null) await lockSubject(trx, { issuer, subject });
      const claim = known(await store.lockClaim(trx, digest));
      const now = clock.now();
      const locked = await agentStore.lockAgent(trx, claim.agent_id);
      const agent = openAgent(claim, locked, now, 'previously_claimed');
      if (!isCodeLive(claim, now)) return otpExpired();
      if (!isSameSecret(claim.otp_digest!, keys.claimCodeDigest(digest, readCode(otp)))) {
        await store.updateClaim(trx, digest, { otp_failures: claim.otp_failures + 1 });
        return new ApiError('OTP_INVALID', { members: { error: 'otp_invalid' } });
      }
      const developerId = await developerFor(trx, claim, client);
      if (developerId === undefined) {
        await store.updateClaim(trx, digest, { otp_digest: null });
        return otpExpired();
      }
      await delegate(trx, agent, developerId, client);
      const { agent_id: agentId } = agent;
      await agentStore.updateAgent(trx, agentId, {
        developer_id: developerId,
        email: claim.email,
        claimed_at: now,
      });
      await store.updateClaim(trx, digest, {
        completed_at: now,
        otp_digest: null,
        developer_id: developerId,
      });
      const scopes = claim.scopes as Scope[];
      const kept = await credentials.upgrade(trx, agentId, scopes);
      const type = asked ?? claim.requested_credential_type ?? (kept === 0 ? 'bearer_token' : undefined);
      const credential = type && (await credentials.issue(trx, { agentId, developerId }, type, scopes));
      await audit.record(trx, agentActor(agentId, developerId, client), {
        action: 'agent.claimed',
        target: agentId,
        data: { registration_type: agent.registration_type, issuer, subject, scopes },
      });
      return { status: 'claimed', agentId, scopes, credential };
    });
    if (result instanceof ApiError) throw result;
    return result;
  }

  return complete;
}

function otpExpired(): ApiError {
  return new ApiError('OTP_EXPIRED', { members: { error: 'otp_expired' } });
}
