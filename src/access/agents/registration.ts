import type { Knex } from 'knex';
import { invalidMember } from '../../foundation/errors/api-error.ts';
import type { Limits } from '../../foundation/limits/limits.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import type { Admission } from './admission.ts';
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from './agent-scopes.ts';
import type { RegistrationType } from './agent.ts';
import type { ClaimHandle } from './claims/claim.ts';
import type { Claims } from './claims/claims.ts';
import type { OpenClaim } from './claims/opening.ts';
import { ANONYMOUS_CREDENTIALS, ASSERTION_CREDENTIALS, requestedType } from './credential-types.ts';
import type { Credential } from './credential.ts';
import type { Credentials } from './credentials.ts';
import { registerAgent, type NewAgentDependencies } from './new-agent.ts';

/** The registration request of an agent, as auth.md (v0.1) defines it. */
export interface RegistrationRequest {
  readonly type: 'identity_assertion' | 'anonymous';
  readonly assertionType?: 'urn:ietf:params:oauth:token-type:id-jag' | 'verified_email' | undefined;
  /** An ID-JAG, or an email address. */
  readonly assertion?: string | undefined;
  readonly requestedCredentialType?: string | undefined;
  /** The name that the agent gives itself. */
  readonly name?: string | undefined;
}

export interface Registration {
  readonly agentId: string;
  readonly registrationType: Exclude<RegistrationType, 'developer'>;
  /** Undefined when the agent gets one with its claim. */
  readonly credential: Credential | undefined;
  /** Undefined when the agent already acts for a developer. */
  readonly claim: ClaimHandle | undefined;
}

/** Anonymous registrations of one client: each one is stored for a day. */
const ANONYMOUS = { requests: 300, seconds: 60 * 60 };

interface Dependencies extends NewAgentDependencies {
  readonly knex: Knex;
  readonly admission: Admission;
  readonly claims: Pick<Claims, 'registerByEmail'>;
  readonly openClaim: OpenClaim;
  readonly credentials: Credentials;
  readonly limits: Pick<Limits, 'take'>;
}

/** Registers agents in the ways that auth.md (v0.1) defines. */
export function createRegistration(deps: Dependencies) {
  const { knex, admission, claims, openClaim, credentials, limits } = deps;

  async function byAssertion(
    assertion: string,
    { requestedCredentialType, name }: RegistrationRequest,
    client: Client,
  ): Promise<Registration> {
    const type = requestedType(requestedCredentialType, ASSERTION_CREDENTIALS);
    const request = { assertion, clientId: undefined, type, name };
    const { agentId, given } = await admission.admit(request, client, (trx, agent) =>
      credentials.issue(trx, agent, type, agent.scopes),
    );
    return { agentId, registrationType: 'agent-provider', credential: given, claim: undefined };
  }

  async function byEmail(
    email: string,
    { requestedCredentialType, name }: RegistrationRequest,
    client: Client,
  ): Promise<Registration> {
    const type = requestedType(requestedCredentialType, ASSERTION_CREDENTIALS);
    const { agentId, claim } = await claims.registerByEmail({ email, type, name }, '/assertion', client);
    return { agentId, registrationType: 'email-verification', credential: undefined, claim };
  }

  async function anonymously(
    { requestedCredentialType, name }: RegistrationRequest,
    client: Client,
  ): Promise<Registration> {
    const type = requestedType(requestedCredentialType, ANONYMOUS_CREDENTIALS);
    await limits.take(
      'agents-from',
      [addressBlock(client.address)],
      ANONYMOUS,
      'anonymous agents within an hour',
    );
    return knex.transaction(async (trx) => {
      const row = await registerAgent(deps, trx, { registrationType: 'anonymous', name }, client);
      const agent = { agentId: row.agent_id, developerId: null };
      const credential = await credentials.issue(trx, agent, type, PRE_CLAIM_SCOPES[type]);
      const claim = await openClaim(trx, {
        agentId: agent.agentId,
        email: null,
        type: null,
        scopes: POST_CLAIM_SCOPES,
      });
      return { agentId: agent.agentId, registrationType: 'anonymous', credential, claim };
    });
  }

  return async function register(request: RegistrationRequest, client: Client): Promise<Registration> {
    const { type, assertionType, assertion } = request;
    if (type === 'anonymous') return anonymously(request, client);
    if (assertionType === undefined) throw invalidMember('/assertion_type', 'is required');
    if (assertion === undefined) throw invalidMember('/assertion', 'is required');
    return assertionType === 'verified_email'
      ? byEmail(assertion, request, client)
      : byAssertion(assertion, request, client);
  };
}
