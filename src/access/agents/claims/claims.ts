import type { Knex } from 'knex';
import { ApiError, invalidMember } from '../../../foundation/errors/api-error.ts';
import { tokenDigest } from '../../../foundation/tokens/tokens.ts';
import type { Client } from '../../../platform/address.ts';
import type { NewId } from '../../../platform/ids.ts';
import { agentActor } from '../agent-actor.ts';
import { POST_CLAIM_SCOPES } from '../agent-scopes.ts';
import { findAgent, type AgentRow } from '../agent-store.ts';
import { isClaimableEmail } from '../assertions.ts';
import { ASSERTION_CREDENTIALS, requestedType } from '../credential-types.ts';
import { registerAgent } from '../new-agent.ts';
import type { SandboxAgents } from '../sandbox-agents.ts';
import { mailDue, MAILS } from './claim-state.ts';
import * as store from './claim-store.ts';
import type { ClaimedType, ClaimHandle, ClaimRequest, CompletedClaim, InitiatedClaim } from './claim.ts';
import { createClaimCompletion, type CompletionDependencies } from './completion.ts';
import { invalidClaimToken, known, openAgent } from './errors.ts';
import type { ClaimMails } from './mails.ts';
import type { OpenClaim } from './opening.ts';

/** The steps by which a user takes over an agent. */
export interface Claims {
  /**
   * Registers an agent by the email address of its user, and mails them.
   * @throws ApiError VALIDATION_FAILED, TOO_MANY_REQUESTS
   */
  registerByEmail(
    agent: { readonly email: string; readonly type: ClaimedType; readonly name: string | undefined },
    pointer: string,
    client: Client,
  ): Promise<InitiatedClaim & { readonly claim: ClaimHandle }>;
  claim(request: ClaimRequest, client: Client): Promise<InitiatedClaim | CompletedClaim>;
}

interface Dependencies extends CompletionDependencies {
  readonly openClaim: OpenClaim;
  readonly claimMails: ClaimMails;
  readonly sandboxAgents: SandboxAgents;
  readonly newId: NewId;
}

export function createClaims(deps: Dependencies): Claims {
  const { knex, openClaim, claimMails, sandboxAgents, developers, audit, clock } = deps;
  const complete = createClaimCompletion(deps);

  /**
   * Mails the claim to an address, and records it in the audit log of the account with that address, if any.
   */
  async function begin(
    trx: Knex.Transaction,
    claimDigest: Buffer,
    email: string,
    agent: Pick<AgentRow, 'agent_id' | 'registration_type' | 'issuer'>,
    client: Client,
  ): Promise<string> {
    const { agent_id: agentId, registration_type, issuer } = agent;
    const { attemptId } = await claimMails.send(trx, claimDigest, email, issuer);
    const account = await developers.find(trx, email);
    await audit.record(trx, agentActor(agentId, account?.developerId ?? null, client), {
      action: 'agent.claim_begun',
      target: agentId,
      data: { registration_type, issuer },
    });
    return attemptId;
  }

  const registerByEmail: Claims['registerByEmail'] = async ({ email, type, name }, pointer, client) => {
    assertEmail(email, pointer);
    await claimMails.assertMaySend(email, client);
    return knex.transaction(async (trx) => {
      const agent = await registerAgent(
        deps,
        trx,
        { registrationType: 'email-verification', name, email },
        client,
      );
      const agentId = agent.agent_id;
      const claim = await openClaim(trx, { agentId, email, type, scopes: POST_CLAIM_SCOPES });
      const attemptId = await begin(trx, tokenDigest(claim.claimToken), email, agent, client);
      return { status: 'initiated', agentId, attemptId, expiresAt: claim.expiresAt, claim };
    });
  };

  /** The claim of a token; the token of a sandbox session opens one. */
  async function find(claimToken: string, client: Client): Promise<store.ClaimRow> {
    const digest = tokenDigest(claimToken);
    const found = await store.findClaim(knex, digest);
    if (found) return found;
    if (!(await sandboxAgents.adopt(claimToken, client))) throw invalidClaimToken();
    return known(await store.findClaim(knex, digest));
  }

  async function start(claimToken: string, request: ClaimRequest, client: Client): Promise<InitiatedClaim> {
    const { email: requested, requestedCredentialType } = request;
    const type =
      requestedCredentialType === undefined
        ? undefined
        : requestedType(requestedCredentialType, ASSERTION_CREDENTIALS);
    const seen = await find(claimToken, client);
    const seenAgent = await findAgent(knex, seen.agent_id);
    const email = recipient(seen, openAgent(seen, seenAgent, clock.now(), 'claimed_or_in_flight'), requested);
    if (mailDue(seen, email, clock.now()) === 'send') await claimMails.assertMaySend(email, client);
    return knex.transaction(async (trx) => {
      const claim = known(await store.lockClaimForUpdate(trx, seen.claim_digest));
      const found = await findAgent(trx, claim.agent_id);
      const agent = openAgent(claim, found, clock.now(), 'claimed_or_in_flight');
      const due = mailDue(claim, email, clock.now());
      if (due === 'too_many') throw tooManyMails(claim, clock.now());
      const attemptId =
        due === 'sent' ? claim.attempt_id! : await begin(trx, claim.claim_digest, email, agent, client);
      if (type !== undefined) {
        await store.updateClaim(trx, claim.claim_digest, { requested_credential_type: type });
      }
      const { agent_id: agentId, expires_at: expiresAt } = claim;
      return { status: 'initiated', agentId, attemptId, expiresAt, claim: undefined };
    });
  }

  return {
    registerByEmail,
    async claim(request, client) {
      const { claimToken, email, otp, name } = request;
      if (claimToken === undefined) {
        if (email === undefined || otp !== undefined) throw invalidMember('/claim_token', 'is required');
        const type = requestedType(request.requestedCredentialType, ASSERTION_CREDENTIALS);
        return registerByEmail({ email, type, name }, '/email', client);
      }
      return otp === undefined
        ? start(claimToken, request, client)
        : complete(claimToken, otp, request, client);
    },
  };
}

/** The address that the mail goes to. */
function recipient(claim: store.ClaimRow, agent: AgentRow, requested: string | undefined): string {
  const isFixed = agent.registration_type !== 'anonymous';
  const email = isFixed ? claim.email : (requested ?? claim.email);
  if (email === null) throw invalidMember('/email', 'is required');
  if (requested !== undefined && requested.toLowerCase() !== email.toLowerCase()) {
    throw invalidMember('/email', 'must be the address that the agent has registered with');
  }
  assertEmail(email, '/email');
  return email;
}

function tooManyMails({ expires_at: expiresAt }: store.ClaimRow, now: Date): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    detail: `${MAILS} mails were sent for this claim. Use the link in the last one.`,
    retryAfter: Math.max(1, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000)),
  });
}

function assertEmail(email: string, pointer: string): void {
  if (isClaimableEmail(email)) return;
  throw invalidMember(pointer, 'must be an email address in ASCII with a complete domain name');
}
