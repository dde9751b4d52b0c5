import type { Knex } from 'knex';
import type { Audit } from '../audit/audit.ts';
import type { Developers, Scope } from '../developers/developers.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Keys } from '../keys/keys.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { isSameSecret } from '../platform/constant-time.ts';
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
import type { ClaimMails } from './claim-mails.ts';
import { CLAIM_MS, claimState, isCodeLive, mailDue, MAILS, readCode } from './claim-state.ts';
import * as store from './claim-store.ts';
import { requestedType } from './credential-choice.ts';
import type { Credentials } from './credentials.ts';
import * as delegationStore from './delegation-store.ts';
import type { Revocation } from './revocation.ts';
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

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'find' | 'openAccount' | 'noteVerified'>;
  readonly credentials: Credentials;
  readonly revocation: Pick<Revocation, 'revokeWhere'>;
  readonly claimMails: ClaimMails;
  readonly sandboxAgents: SandboxAgents;
  readonly keys: Pick<Keys, 'claimCodeDigest'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  readonly newId: NewId;
}

export function createClaims(deps: Dependencies): Claims {
  const { knex, developers, credentials, revocation, claimMails, sandboxAgents } = deps;
  const { keys, audit, clock, random, newId } = deps;

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

  const registerByEmail: Claims['registerByEmail'] = async ({ email, type, name }, pointer, client) => {
    assertEmail(email, pointer);
    await claimMails.assertMaySend(email, client);
    const agentId = newId('agt');
    return knex.transaction(async (trx) => {
      await agentStore.insertAgent(trx, {
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
      });
      const claim = await open(trx, { agentId, email, type, scopes: POST_CLAIM_SCOPES });
      const { attemptId } = await claimMails.send(trx, tokenDigest(claim.claimToken), email, null);
      const actor = agentActor(agentId, null, client);
      const data = { registration_type: 'email-verification' };
      await audit.record(trx, actor, { action: 'agent.registered', target: agentId, data });
      return { status: 'initiated', agentId, attemptId, expiresAt: claim.expiresAt, claim };
    });
  };

  /** The claim of a token, which a session of the sandbox may have brought. */
  async function find(claimToken: string, client: Client): Promise<store.ClaimRow> {
    const digest = tokenDigest(claimToken);
    const found = await store.findClaim(knex, digest);
    if (found) return found;
    if (!(await sandboxAgents.adopt(claimToken, open, client))) throw invalidClaimToken();
    return (await store.findClaim(knex, digest)) ?? raise(invalidClaimToken());
  }

  function assertOpen(
    claim: store.ClaimRow,
    agent: agentStore.AgentRow | undefined,
    claimedError: 'claimed_or_in_flight' | 'previously_claimed',
  ): agentStore.AgentRow {
    const state = claimState(claim, clock.now());
    if (!agent || agent.revoked_at || state === 'rejected') throw invalidClaimToken();
    if (state === 'claimed' || agent.developer_id !== null) {
      throw new ApiError('ALREADY_CLAIMED', { members: { error: claimedError } });
    }
    if (state === 'expired') throw new ApiError('CLAIM_EXPIRED', { members: { error: 'claim_expired' } });
    return agent;
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
    const email = emailFor(seen, assertOpen(seen, seenAgent, 'claimed_or_in_flight'), asked);
    if (mailDue(seen, email, clock.now()) === 'send') await claimMails.assertMaySend(email, client);
    return knex.transaction(async (trx) => {
      const claim = (await store.lockClaim(trx, seen.claim_digest)) ?? raise(invalidClaimToken());
      const agent = assertOpen(
        claim,
        await agentStore.findAgent(trx, claim.agent_id),
        'claimed_or_in_flight',
      );
      const due = mailDue(claim, email, clock.now());
      if (due === 'too_many') throw tooManyMails(claim);
      const { attemptId } =
        due === 'sent'
          ? { attemptId: claim.attempt_id! }
          : await claimMails.send(trx, claim.claim_digest, email, agent.issuer);
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
    await delegationStore.putDelegation(trx, { issuer, subject }, developerId, clock.now());
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
    const seen = (await store.findClaim(knex, digest)) ?? raise(invalidClaimToken());
    const seenAgent = (await agentStore.findAgent(knex, seen.agent_id)) ?? raise(invalidClaimToken());

    // What it has come to is kept also where it is a refusal.
    const result = await knex.transaction(async (trx): Promise<CompletedClaim | ApiError> => {
      const { issuer, subject } = seenAgent;
      if (issuer !== null && subject !== null) await delegationStore.lockSubject(trx, { issuer, subject });
      const claim = (await store.lockClaim(trx, digest)) ?? raise(invalidClaimToken());
      const agent = assertOpen(claim, await agentStore.lockAgent(trx, claim.agent_id), 'previously_claimed');
      const now = clock.now();
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

function invalidClaimToken(): ApiError {
  return new ApiError('INVALID_CLAIM_TOKEN', { members: { error: 'invalid_claim_token' } });
}

function otpExpired(): ApiError {
  return new ApiError('OTP_EXPIRED', { members: { error: 'otp_expired' } });
}

function raise(error: Error): never {
  throw error;
}
