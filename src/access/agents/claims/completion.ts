import type { Knex } from 'knex';
import type { Audit } from '../../../foundation/audit/audit.ts';
import type { Developers, Scope } from '../../../accounts/developers/developers.ts';
import { ApiError } from '../../../foundation/errors/api-error.ts';
import type { Keys } from '../../../foundation/installation-keys/installation-keys.ts';
import type { Client } from '../../../platform/address.ts';
import type { Clock } from '../../../platform/clock.ts';
import { isSameSecret } from '../../../platform/constant-time.ts';
import { tokenDigest } from '../../../foundation/tokens/tokens.ts';
import { agentActor } from '../agent-actor.ts';
import * as agentStore from '../agent-store.ts';
import { ASSERTION_CREDENTIALS, requestedType } from '../credential-types.ts';
import type { Credentials } from '../credentials.ts';
import { grantDelegation } from '../delegation.ts';
import { lockSubjectForUpdate } from '../delegation-store.ts';
import type { Revocation } from '../revocation.ts';
import { isCodeLive, readCode } from './claim-state.ts';
import * as store from './claim-store.ts';
import type { ClaimRequest, CompletedClaim } from './claim.ts';
import { known, openAgent } from './errors.ts';

export interface CompletionDependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'find' | 'openAccount' | 'noteVerified'>;
  readonly credentials: Credentials;
  readonly revocation: Pick<Revocation, 'revokeWhere'>;
  readonly keys: Pick<Keys, 'claimCodeDigest'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The last step of a claim: with the code of the page, the agent is linked to a developer, once. */
export function createClaimCompletion(deps: CompletionDependencies) {
  const { knex, developers, credentials, revocation, keys, audit, clock } = deps;

  /**
   * The developer who claims the agent.
   * @returns undefined when the account requires a sign-in that did not happen
   */
  async function developerFor(
    trx: Knex.Transaction,
    { email, developer_id: confirmedBy }: store.ClaimRow,
    client: Client,
  ): Promise<string | undefined> {
    const account = await developers.find(trx, email!);
    // Undefined too when a concurrent request opens the account, which may then have a password.
    if (!account) return developers.openAccount(trx, { email: email!, verified: true }, client);
    const { developerId, hasPassword } = account;
    if (hasPassword && confirmedBy !== developerId) return undefined;
    await developers.noteVerified(trx, developerId);
    return developerId;
  }

  /** Delegates the asserted subject to the developer, and replaces the agent that it had before. */
  async function delegate(
    trx: Knex.Transaction,
    { agent_id: agentId, issuer, subject, client_id: clientId }: agentStore.AgentRow,
    developerId: string,
    client: Client,
  ): Promise<void> {
    if (issuer === null || subject === null || clientId === null) return;
    const before = await agentStore.lockAgentOfSubjectForUpdate(trx, { issuer, subject }, clientId);
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
    const requested =
      requestedCredentialType === undefined
        ? undefined
        : requestedType(requestedCredentialType, ASSERTION_CREDENTIALS);
    const digest = tokenDigest(claimToken);
    const seen = known(await store.findClaim(knex, digest));
    const seenAgent = known(await agentStore.findAgent(knex, seen.agent_id));

    // A refusal is returned, not thrown, so that the transaction commits the counted attempt.
    const result = await knex.transaction(async (trx): Promise<CompletedClaim | ApiError> => {
      const { issuer, subject } = seenAgent;
      if (issuer !== null && subject !== null) await lockSubjectForUpdate(trx, { issuer, subject });
      const claim = known(await store.lockClaimForUpdate(trx, digest));
      const now = clock.now();
      const locked = await agentStore.lockAgentForUpdate(trx, claim.agent_id);
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
      const type = requested ?? claim.requested_credential_type ?? (kept === 0 ? 'bearer_token' : undefined);
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
