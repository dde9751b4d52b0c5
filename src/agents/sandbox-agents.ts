import type { Knex } from 'knex';
import type { Audit } from '../audit/audit.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import { readClaimed, tokenDigest, type Tokens } from '../tokens/tokens.ts';
import { agentActor } from './agent-actor.ts';
import * as agentStore from './agent-store.ts';
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from './agents.ts';
import { findClaim, lockClaimToken } from './claim-store.ts';
import type { Claims } from './claims.ts';
import { findCredential } from './credential-store.ts';
import type { Credentials } from './credentials.ts';

/** Sessions of the sandbox, of which nothing is known until somebody wants to claim one. */
export interface SandboxAgents {
  /**
   * Makes an agent of a sandbox session, with a claim whose token is that of the session.
   * @returns false when it is none that is alive
   */
  adopt(token: string, open: Claims['open'], client: Client): Promise<boolean>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly tokens: Pick<Tokens, 'readSandboxToken'>;
  readonly credentials: Credentials;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

export function createSandboxAgents(deps: Dependencies): SandboxAgents {
  const { knex, tokens, credentials, audit, clock, newId } = deps;

  async function registerAgent(
    trx: Knex.Transaction,
    token: string,
    expiresAt: Date,
    client: Client,
  ): Promise<string> {
    const agentId = newId('agt');
    await agentStore.insertAgent(trx, {
      agent_id: agentId,
      developer_id: null,
      registration_type: 'anonymous',
      name: null,
      issuer: null,
      subject: null,
      client_id: null,
      email: null,
      created_at: clock.now(),
      claimed_at: null,
      revoked_at: null,
    });
    const scopes = PRE_CLAIM_SCOPES.sandbox_token;
    await credentials.adopt(trx, agentId, { type: 'sandbox_token', credential: token, scopes, expiresAt });
    const data = { registration_type: 'anonymous' };
    await audit.record(trx, agentActor(agentId, null, client), {
      action: 'agent.registered',
      target: agentId,
      data,
    });
    return agentId;
  }

  return {
    async adopt(token, open, client) {
      if (readClaimed(token)?.typ !== 'sandbox+jwt') return false;
      const session = await tokens.readSandboxToken(token);
      if (!session?.isUnique || session.expiresAt <= clock.now()) return false;
      return knex.transaction(async (trx) => {
        const digest = tokenDigest(token);
        await lockClaimToken(trx, digest);
        if (await findClaim(trx, digest)) return true;
        const owner = await findCredential(trx, digest);
        // A token that was made for an agent is the agent's credential, or was revoked.
        if (!owner && (await agentStore.findAgent(trx, session.username))) return false;
        const agentId = owner?.agent_id ?? (await registerAgent(trx, token, session.expiresAt, client));
        await open(trx, { agentId, email: null, type: null, scopes: POST_CLAIM_SCOPES }, token);
        return true;
      });
    },
  };
}
