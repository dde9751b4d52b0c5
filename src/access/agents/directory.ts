import type { Knex } from 'knex';
import type { ApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import type { Developers, Scope } from '../../accounts/developers/developers.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { readPage, type Page, type PageRequest } from '../../foundation/paging/page.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import * as store from './agent-store.ts';
import type { Agent, AgentIdentity } from './agent.ts';
import { findCredential, listCredentials } from './credential-store.ts';
import type { Credential, LiveCredential } from './credential.ts';
import type { Credentials } from './credentials.ts';

/** The agents of developers, and the credentials by which they are known. */
export interface AgentDirectory {
  /** The agent of a live credential; undefined when the credential is unknown, expired or revoked. */
  authenticate(credential: string): Promise<AgentIdentity | undefined>;
  /** Whether an agent exists and is not revoked. */
  isAlive(agentId: string): Promise<boolean>;
  /** @param held the scopes of the token that creates the agent. @throws ApiError INSUFFICIENT_SCOPE */
  create(
    actor: Actor,
    held: readonly Scope[],
    wanted: {
      readonly name: string;
      readonly credentialType: 'bearer_token' | 'jwt';
      readonly scopes: readonly Scope[];
    },
  ): Promise<{ readonly agent: Agent; readonly credential: Credential }>;
  list(developerId: string, page: PageRequest): Promise<Page<Agent>>;
  /** @throws ApiError AGENT_NOT_FOUND */
  get(
    developerId: string,
    agentId: string,
  ): Promise<{ readonly agent: Agent; readonly credentials: readonly LiveCredential[] }>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<Developers, 'suspensionOf'>;
  readonly apiTokens: Pick<ApiTokens, 'lockMakerForShare'>;
  readonly credentials: Credentials;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createDirectory(deps: Dependencies): AgentDirectory {
  const { knex, developers, apiTokens, credentials, audit, clock, newId } = deps;

  return {
    async authenticate(credential) {
      const row = await findCredential(
        knex,
        tokenDigest(credential),
        developers.suspensionOf(knex, 'a.developer_id'),
      );
      if (!row || row.expires_at <= clock.now()) return undefined;
      return {
        agentId: row.agent_id,
        developerId: row.developer_id,
        scopes: row.scopes as Scope[],
        issuedAt: row.created_at,
        expiresAt: row.expires_at,
        suspended: row.suspended_at !== null,
      };
    },

    isAlive: (agentId) => store.isAlive(knex, agentId),

    async create(actor, held, { name, credentialType, scopes }) {
      const missing = scopes.filter((scope) => !held.includes(scope));
      if (missing.length > 0) {
        throw new ApiError('INSUFFICIENT_SCOPE', {
          detail: `The token that creates the agent does not have the scope ${missing.join(' ')}.`,
          members: { scope: missing.join(' ') },
        });
      }
      const { developerId } = actor;
      const now = clock.now();
      const row: store.AgentRow = {
        agent_id: newId('agt'),
        developer_id: developerId,
        registration_type: 'developer',
        name,
        issuer: null,
        subject: null,
        client_id: null,
        email: null,
        created_at: now,
        claimed_at: now,
        revoked_at: null,
      };
      const agentId = row.agent_id;
      const credential = await knex.transaction(async (trx) => {
        await apiTokens.lockMakerForShare(trx, actor);
        await store.insertAgent(trx, row);
        await audit.record(trx, actor, {
          action: 'agent.created',
          target: agentId,
          data: { name, credential_type: credentialType, scopes },
        });
        return credentials.issue(trx, { agentId, developerId }, credentialType, scopes);
      });
      return { agent: toAgent(row), credential };
    },

    async list(developerId, request) {
      const page = await readPage(
        request,
        'agt',
        (row: store.AgentRow) => row.agent_id,
        (range) => store.listAgents(knex, developerId, range),
      );
      return { data: page.data.map(toAgent), nextCursor: page.nextCursor };
    },

    async get(developerId, agentId) {
      const row = await store.findAgentOf(knex, developerId, agentId);
      if (!row) throw new ApiError('AGENT_NOT_FOUND');
      const live = await listCredentials(knex, agentId, clock.now());
      return {
        agent: toAgent(row),
        credentials: live.map((each) => ({
          type: each.credential_type,
          scopes: each.scopes as Scope[],
          createdAt: each.created_at,
          expiresAt: each.expires_at,
        })),
      };
    },
  };
}

function toAgent(row: store.AgentRow): Agent {
  return {
    agentId: row.agent_id,
    registrationType: row.registration_type,
    name: row.name,
    issuer: row.issuer,
    subject: row.subject,
    clientId: row.client_id,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
