import type { Knex } from 'knex';
import type { Audit } from '../audit/audit.ts';
import { invalidMember } from '../errors/api-error.ts';
import type { Limits } from '../limits/limits.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Admission } from './admission.ts';
import { agentActor } from './agent-actor.ts';
import * as agentStore from './agent-store.ts';
import {
  ANONYMOUS_CREDENTIALS,
  ASSERTION_CREDENTIALS,
  POST_CLAIM_SCOPES,
  PRE_CLAIM_SCOPES,
  type Registration,
  type RegistrationRequest,
} from './agents.ts';
import type { Claims } from './claims.ts';
import { requestedType } from './credential-choice.ts';
import type { Credentials } from './credentials.ts';

/** Agents that nobody knows, of one client: each of them is rows for a day. */
const ANONYMOUS = { requests: 300, seconds: 60 * 60 };

interface Dependencies {
  readonly knex: Knex;
  readonly admission: Admission;
  readonly claims: Claims;
  readonly credentials: Credentials;
  readonly limits: Pick<Limits, 'take'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Registers agents in the ways that auth.md (v0.1) has. */
export function createRegistration(deps: Dependencies) {
  const { knex, admission, claims, credentials, limits, audit, clock, newId } = deps;

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
    const agentId = newId('agt');
    return knex.transaction(async (trx) => {
      await agentStore.insertAgent(trx, {
        agent_id: agentId,
        developer_id: null,
        registration_type: 'anonymous',
        name: name ?? null,
        issuer: null,
        subject: null,
        client_id: null,
        email: null,
        created_at: clock.now(),
        claimed_at: null,
        revoked_at: null,
      });
      const agent = { agentId, developerId: null };
      const credential = await credentials.issue(trx, agent, type, PRE_CLAIM_SCOPES[type]);
      const claim = await claims.open(trx, { agentId, email: null, type: null, scopes: POST_CLAIM_SCOPES });
      const data = { registration_type: 'anonymous' };
      const actor = agentActor(agentId, null, client);
      await audit.record(trx, actor, { action: 'agent.registered', target: agentId, data });
      return { agentId, registrationType: 'anonymous', credential, claim };
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
