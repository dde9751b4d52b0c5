import type { Knex } from 'knex';
import type { Addresses } from '../addresses/addresses.ts';
import type { Audit } from '../audit/audit.ts';
import type { Developers, Scope } from '../developers/developers.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import { agentActor } from './agent-actor.ts';
import * as agentStore from './agent-store.ts';
import { POST_CLAIM_SCOPES, type ClaimHandle } from './agents.ts';
import { AssertionError, type Assertion, type Assertions } from './assertions.ts';
import type { ClaimedType, Claims } from './claims.ts';
import { grantDelegation } from './delegation.ts';
import * as store from './delegation-store.ts';
import type { Revocation } from './revocation.ts';

/** An agent that an assertion has let in. */
export interface Admitted {
  readonly agentId: string;
  readonly developerId: string;
  readonly scopes: readonly Scope[];
}

export interface AdmissionRequest {
  readonly assertion: string;
  /** Who must be its client; undefined for anybody. */
  readonly clientId: string | undefined;
  /** What the agent gets with a claim, where one is needed. */
  readonly type: ClaimedType;
  readonly name: string | undefined;
}

/** Lets agents in by the word of an issuer. */
export interface Admission {
  /**
   * Takes an assertion, once.
   * @param give what the agent gets, in the transaction that lets it in
   * @throws ApiError INVALID_ASSERTION, INTERACTION_REQUIRED
   */
  admit<Given>(
    request: AdmissionRequest,
    client: Client,
    give: (trx: Knex.Transaction, admitted: Admitted) => Promise<Given>,
  ): Promise<Admitted & { readonly given: Given }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly assertions: Assertions;
  readonly claims: Pick<Claims, 'open'>;
  readonly revocation: Pick<Revocation, 'revokeWhere'>;
  readonly developers: Pick<Developers, 'find' | 'openAccount'>;
  readonly addresses: Pick<Addresses, 'agentClaim'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createAdmission(deps: Dependencies): Admission {
  const { knex, assertions, claims, revocation, developers, addresses, audit, clock, newId } = deps;

  async function verify({ assertion: token, clientId }: AdmissionRequest) {
    try {
      const assertion = await assertions.verifyGrant(token);
      if (clientId !== undefined && assertion.clientId !== clientId) {
        throw new AssertionError('invalid_client_id', 'Its client_id is not the client that sends it.');
      }
      return { assertion, scopes: grantedScopes(assertion) };
    } catch (error) {
      throw error instanceof AssertionError ? refusal(error) : error;
    }
  }

  async function insert(
    trx: Knex.Transaction,
    assertion: Assertion,
    developerId: string | null,
    { name }: AdmissionRequest,
    client: Client,
  ): Promise<string> {
    const agentId = newId('agt');
    const now = clock.now();
    const { issuer, subject } = assertion;
    await agentStore.insertAgent(trx, {
      agent_id: agentId,
      developer_id: developerId,
      registration_type: 'agent-provider',
      name: name ?? null,
      issuer,
      subject,
      client_id: assertion.clientId,
      email: assertion.verifiedEmail ?? null,
      created_at: now,
      claimed_at: developerId === null ? null : now,
      revoked_at: null,
    });
    const data = { registration_type: 'agent-provider', issuer, subject };
    const actor = agentActor(agentId, developerId, client);
    await audit.record(trx, actor, { action: 'agent.registered', target: agentId, data });
    return agentId;
  }

  /** The agent of an assertion's client, which acts for the developer. */
  async function agentFor(
    trx: Knex.Transaction,
    assertion: Assertion,
    developerId: string,
    request: AdmissionRequest,
    client: Client,
  ): Promise<string> {
    const known = await agentStore.lockAgentOfSubject(trx, assertion, assertion.clientId);
    if (known?.developer_id === developerId) {
      const actor = agentActor(known.agent_id, developerId, client);
      await audit.record(trx, actor, { action: 'agent.let_in', target: known.agent_id });
      return known.agent_id;
    }
    // The subject has become another developer's in the meantime.
    if (known) {
      const actor = (of: string) => agentActor(known.agent_id, of, client);
      const by = { actor, initiatingEntity: 'policy', reason: 'superseded' } as const;
      await revocation.revokeWhere(trx, { agent_id: known.agent_id }, by);
    }
    return insert(trx, assertion, developerId, request, client);
  }

  /**
   * The developer that an assertion's subject is.
   * @returns undefined where somebody with an account has to agree first
   */
  async function developerOf(
    trx: Knex.Transaction,
    assertion: Assertion,
    client: Client,
  ): Promise<{ readonly developerId: string; readonly isNew: boolean } | undefined> {
    const known = await store.holdDelegation(trx, assertion);
    if (known !== undefined) return { developerId: known, isNew: false };
    const { verifiedEmail: email } = assertion;
    if (email === undefined) {
      throw new AssertionError(
        'missing_verified_email',
        'It has no e-mail address that its issuer has verified.',
      );
    }
    if (await developers.find(trx, email)) return undefined;
    // That is the issuer's word: nobody has proved it here.
    const opened = await developers.openAccount(trx, { email, verified: false }, client);
    return opened === undefined ? undefined : { developerId: opened, isNew: true };
  }

  function interactionRequired(claim: ClaimHandle): ApiError {
    return new ApiError('INTERACTION_REQUIRED', {
      members: {
        error: 'interaction_required',
        claim_url: addresses.agentClaim(),
        claim_token: claim.claimToken,
        claim_token_expires: claim.expiresAt.toISOString(),
      },
    });
  }

  return {
    async admit(request, client, give) {
      const { assertion, scopes } = await verify(request);
      // An assertion is used up also where it is refused.
      const result = await knex.transaction(async (trx) => {
        if (!(await store.useAssertion(trx, assertion.useDigest, assertion.rememberedUntil))) {
          return refusal(new AssertionError('replay_detected', 'It was taken before.'));
        }
        await store.lockSubject(trx, assertion);
        const developer = await developerOf(trx, assertion, client).catch((error: unknown) => {
          if (error instanceof AssertionError) return refusal(error);
          throw error;
        });
        if (developer instanceof ApiError) return developer;
        if (developer === undefined) {
          const agentId = await insert(trx, assertion, null, request, client);
          const email = assertion.verifiedEmail!;
          return interactionRequired(await claims.open(trx, { agentId, email, type: request.type, scopes }));
        }
        const { developerId, isNew } = developer;
        const agentId = await agentFor(trx, assertion, developerId, request, client);
        const admitted = { agentId, developerId, scopes };
        if (isNew) await grantDelegation(deps, trx, assertion, admitted, client);
        return { ...admitted, given: await give(trx, admitted) };
      });
      if (result instanceof ApiError) throw result;
      return result;
    },
  };
}

function grantedScopes({ scopes }: Assertion): readonly Scope[] {
  if (!scopes) return POST_CLAIM_SCOPES;
  const granted = POST_CLAIM_SCOPES.filter((scope) => scopes.includes(scope));
  if (granted.length > 0) return granted;
  throw new AssertionError('invalid_request', 'It has no scope that agents can have here.');
}

/** Why an assertion is refused, in the words of auth.md. */
function refusal({ fault, message, cause }: AssertionError): ApiError {
  return new ApiError('INVALID_ASSERTION', {
    detail: message,
    members: { error: fault === 'unknown_key' ? 'invalid_signature' : fault },
    cause,
  });
}
