import type { Knex } from 'knex';
import type { Addresses } from '../../foundation/addresses/addresses.ts';
import type { Developers, Scope } from '../../accounts/developers/developers.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import { agentActor } from './agent-actor.ts';
import { POST_CLAIM_SCOPES } from './agent-scopes.ts';
import { lockAgentOfSubjectForUpdate } from './agent-store.ts';
import { AssertionError, type Assertion, type Assertions } from './assertions.ts';
import type { ClaimedType, ClaimHandle } from './claims/claim.ts';
import type { OpenClaim } from './claims/opening.ts';
import { grantDelegation } from './delegation.ts';
import * as store from './delegation-store.ts';
import { registerAgent, type NewAgentDependencies } from './new-agent.ts';
import type { Revocation } from './revocation.ts';

/** An agent that was admitted by an assertion. */
export interface Admitted {
  readonly agentId: string;
  readonly developerId: string;
  readonly scopes: readonly Scope[];
}

export interface AdmissionRequest {
  readonly assertion: string;
  /** The client that the assertion must be for; undefined for any. */
  readonly clientId: string | undefined;
  /** The credential type that a claim gives, if one is needed. */
  readonly type: ClaimedType;
  readonly name: string | undefined;
}

/** Admits agents whose identity a trusted issuer asserts. */
export interface Admission {
  /**
   * Accepts an assertion, once.
   * @param give creates the result for the agent, in the transaction that admits it
   * @throws ApiError INVALID_ASSERTION, INTERACTION_REQUIRED
   */
  admit<Given>(
    request: AdmissionRequest,
    client: Client,
    give: (trx: Knex.Transaction, admitted: Admitted) => Promise<Given>,
  ): Promise<Admitted & { readonly given: Given }>;
}

interface Dependencies extends NewAgentDependencies {
  readonly knex: Knex;
  readonly assertions: Assertions;
  readonly openClaim: OpenClaim;
  readonly revocation: Pick<Revocation, 'revokeWhere'>;
  readonly developers: Pick<Developers, 'find' | 'openAccount'>;
  readonly addresses: Pick<Addresses, 'agentClaim'>;
}

export function createAdmission(deps: Dependencies): Admission {
  const { knex, assertions, openClaim, revocation, developers, addresses, audit } = deps;

  async function verify({ assertion: token, clientId }: AdmissionRequest) {
    try {
      const assertion = await assertions.verifyGrant(token);
      if (clientId !== undefined && assertion.clientId !== clientId) {
        throw new AssertionError(
          'invalid_client_id',
          'The client_id of the token is not the client that sends it.',
        );
      }
      return { assertion, scopes: grantedScopes(assertion) };
    } catch (error) {
      throw error instanceof AssertionError ? refusal(error) : error;
    }
  }

  async function register(
    trx: Knex.Transaction,
    { issuer, subject, clientId, verifiedEmail: email }: Assertion,
    developerId: string | undefined,
    { name }: AdmissionRequest,
    client: Client,
  ): Promise<string> {
    const identity = { issuer, subject, clientId };
    const agent = { registrationType: 'agent-provider', name, email, developerId, identity } as const;
    return (await registerAgent(deps, trx, agent, client)).agent_id;
  }

  /** The agent of the assertion's client that acts for the developer. */
  async function agentFor(
    trx: Knex.Transaction,
    assertion: Assertion,
    developerId: string,
    request: AdmissionRequest,
    client: Client,
  ): Promise<string> {
    const known = await lockAgentOfSubjectForUpdate(trx, assertion, assertion.clientId);
    if (known?.developer_id === developerId) {
      const actor = agentActor(known.agent_id, developerId, client);
      await audit.record(trx, actor, { action: 'agent.let_in', target: known.agent_id });
      return known.agent_id;
    }
    // The subject was delegated to another developer in the meantime.
    if (known) {
      const actor = (of: string) => agentActor(known.agent_id, of, client);
      const by = { actor, initiatingEntity: 'policy', reason: 'superseded' } as const;
      await revocation.revokeWhere(trx, { agent_id: known.agent_id }, by);
    }
    return register(trx, assertion, developerId, request, client);
  }

  /**
   * The developer that the assertion's subject acts for.
   * @returns undefined when the owner of an existing account must consent first
   */
  async function developerOf(
    trx: Knex.Transaction,
    assertion: Assertion,
    client: Client,
  ): Promise<{ readonly developerId: string; readonly isNew: boolean } | undefined> {
    const known = await store.lockDelegationForShare(trx, assertion);
    if (known !== undefined) return { developerId: known, isNew: false };
    const { verifiedEmail: email } = assertion;
    if (email === undefined) {
      throw new AssertionError(
        'missing_verified_email',
        'The token has no email address that its issuer has verified.',
      );
    }
    if (await developers.find(trx, email)) return undefined;
    // Only the issuer has verified the address.
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
      // A refused assertion is used up too, so the transaction commits.
      const result = await knex.transaction(async (trx) => {
        if (!(await store.useAssertion(trx, assertion.useDigest, assertion.rememberedUntil))) {
          return refusal(new AssertionError('replay_detected', 'The token was used before.'));
        }
        await store.lockSubjectForUpdate(trx, assertion);
        const developer = await developerOf(trx, assertion, client).catch((error: unknown) => {
          if (error instanceof AssertionError) return refusal(error);
          throw error;
        });
        if (developer instanceof ApiError) return developer;
        if (developer === undefined) {
          const agentId = await register(trx, assertion, undefined, request, client);
          const email = assertion.verifiedEmail!;
          return interactionRequired(await openClaim(trx, { agentId, email, type: request.type, scopes }));
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
  throw new AssertionError('invalid_request', 'The token has no scope that agents can have.');
}

/** The refusal of an assertion, with the error codes of auth.md. */
function refusal({ fault, message, cause }: AssertionError): ApiError {
  return new ApiError('INVALID_ASSERTION', {
    detail: message,
    members: { error: fault === 'unknown_key' ? 'invalid_signature' : fault },
    cause,
  });
}
