import type { Knex } from 'knex';
import type { Scope } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import type { NewId } from '../platform/ids.ts';
import type { Random } from '../platform/random.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import { agentActor } from './agent-actor.ts';
import * as agentStore from './agent-store.ts';
import {
  ASSERTION_CREDENTIALS,
  POST_CLAIM_SCOPES,
  type ClaimHandle,
  type ClaimRequest,
  type CompletedClaim,
  type InitiatedClaim,
} from './agents.ts';
import { isClaimableEmail } from './assertions.ts';
import { createClaimCompletion, type CompletionDependencies } from './claim-completion.ts';
import { invalidClaimToken, known, openAgent } from './claim-faults.ts';
import type { ClaimMails } from './claim-mails.ts';
import { CLAIM_MS, mailDue, MAILS } from './claim-state.ts';
import * as store from './claim-store.ts';
import { requestedType } from './credential-choice.ts';
import type { SandboxAgents } from './sandbox-agents.ts';

export type ClaimedType = (typeof ASSERTION_CREDENTIALS)[number];

/** What a claim gives once it is completed. */
export interface NewClaim {
  readonly agentId: string;
  /** Null where whoever begins the claim names it. */
  readonly email: string | null;
  /** Null where the agent has a credential. */
  readonly type: ClaimedType | null;
  readonly scopes: readonly Scope[];
}

/** Ceremonies by which somebody takes an agent for his own. */
export interface Claims {
  /** Makes a claim that can be begun. @param claimToken one that the agent has already */
  open(trx: Knex.Transaction, claim: NewClaim, claimToken?: string): Promise<ClaimHandle>;
  /** Registers an agent by the address of its person, and mails him. @throws ApiError VALIDATION_FAILED, TOO_MANY_REQUESTS */
  registerByEmail(
    agent: { readonly email: string; readonly type: ClaimedType; readonly name: string | undefined },
    pointer: string,
    client: Client,
  ): Promise<InitiatedClaim & { readonly claim: ClaimHandle }>;
  claim(request: ClaimRequest, client: Client): Promise<InitiatedClaim | CompletedClaim>;
}

interface Dependencies extends CompletionDependencies {
  readonly claimMails: ClaimMails;
  readonly sandboxAgents: SandboxAgents;
  readonly random: Random;
  readonly newId: NewId;
}

export function createClaims(deps: Dependencies): Claims {
  const { knex, claimMails, sandboxAgents, developers, audit, clock, random, newId } = deps;
  const complete = createClaimCompletion(deps);

  const open: Claims['open'] = async (trx, { agentId, email, type, scopes }, given) => {
    const claimToken = given ?? `clm_${random.bytes(32).toString('base64url')}`;
    const now = clock.now();
    const expiresAt = new Date(now.getTime() + CLAIM_MS);
    await store.insertClaim(trx, {
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

  /** Mails whoever reads an address what the agent wants, and says so where he may look, if he has an account. */
  async function begin(
    trx: Knex.Transaction,
    claimDigest: Buffer,
    email: string,
    agent: Pick<agentStore.AgentRow, 'agent_id' | 'registration_type' | 'issuer'>,
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
    const agentId = newId('agt');
    const agent: agentStore.AgentRow = {
      agent_id: agentId,
      developer_id: null,
      registration_type: 'email-verification',
      name: name ?? null,
      issuer: null,
      subject: null,
      client_id: null,
      email,
      created_at: clock.now(),
      claimed_at: null,
      revoked_at: null,
    };
    return knex.transaction(async (trx) => {
      await agentStore.insertAgent(trx, agent);
      const actor = agentActor(agentId, null, client);
      const data = { registration_type: agent.registration_type };
      await audit.record(trx, actor, { action: 'agent.registered', target: agentId, data });
      const claim = await open(trx, { agentId, email, type, scopes: POST_CLAIM_SCOPES });
      const attemptId = await begin(trx, tokenDigest(claim.claimToken), email, agent, client);
      return { status: 'initiated', agentId, attemptId, expiresAt: claim.expiresAt, claim };
    });
  };

  /** The claim of a token, which a session of the sandbox may have brought. */
  async function find(claimToken: string, client: Client): Promise<store.ClaimRow> {
    const digest = tokenDigest(claimToken);
    const found = await store.findClaim(knex, digest);
    if (found) return found;
    if (!(await sandboxAgents.adopt(claimToken, open, client))) throw invalidClaimToken();
    return known(await store.findClaim(knex, digest));
  }

  /** The address that the mail goes to. */
  function emailFor(claim: store.ClaimRow, agent: agentStore.AgentRow, asked: string | undefined): string {
    const isFixed = agent.registration_type !== 'anonymous';
    const email = isFixed ? claim.email : (asked ?? claim.email);
    if (email === null) throw invalidMember('/email', 'is required');
    if (asked !== undefined && asked.toLowerCase() !== email.toLowerCase()) {
      throw invalidMember('/email', 'must be the address that the agent has registered with');
    }
    assertEmail(email, '/email');
    return email;
  }

  async function start(claimToken: string, request: ClaimRequest, client: Client): Promise<InitiatedClaim> {
    const { email: asked, requestedCredentialType } = request;
    const type =
      requestedCredentialType === undefined
        ? undefined
        : requestedType(requestedCredentialType, ASSERTION_CREDENTIALS);
    const seen = await find(claimToken, client);
    const seenAgent = await agentStore.findAgent(knex, seen.agent_id);
    const email = emailFor(seen, openAgent(seen, seenAgent, clock.now(), 'claimed_or_in_flight'), asked);
    if (mailDue(seen, email, clock.now()) === 'send') await claimMails.assertMaySend(email, client);
    return knex.transaction(async (trx) => {
      const claim = known(await store.lockClaim(trx, seen.claim_digest));
      const found = await agentStore.findAgent(trx, claim.agent_id);
      const agent = openAgent(claim, found, clock.now(), 'claimed_or_in_flight');
      const due = mailDue(claim, email, clock.now());
      if (due === 'too_many') throw tooManyMails(claim);
      const attemptId =
        due === 'sent' ? claim.attempt_id! : await begin(trx, claim.claim_digest, email, agent, client);
      if (type !== undefined) {
        await store.updateClaim(trx, claim.claim_digest, { requested_credential_type: type });
      }
      const { agent_id: agentId, expires_at: expiresAt } = claim;
      return { status: 'initiated', agentId, attemptId, expiresAt, claim: undefined };
    });
  }

  function tooManyMails({ expires_at: expiresAt }: store.ClaimRow): ApiError {
    return new ApiError('TOO_MANY_REQUESTS', {
      detail: `${MAILS} mails were sent for this claim: the last link still counts.`,
      retryAfter: Math.max(1, Math.ceil((expiresAt.getTime() - clock.now().getTime()) / 1000)),
    });
  }

  return {
    open,
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

function assertEmail(email: string, pointer: string): void {
  if (isClaimableEmail(email)) return;
  throw invalidMember(
    pointer,
    'must be an address that mail can be sent to, in ASCII and with a whole domain',
  );
}
