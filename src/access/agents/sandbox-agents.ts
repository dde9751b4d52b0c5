import type { Knex } from 'knex';
import { readClaimed, tokenDigest, type Tokens } from '../../foundation/tokens/tokens.ts';
import type { Client } from '../../platform/address.ts';
import { POST_CLAIM_SCOPES, PRE_CLAIM_SCOPES } from './agent-scopes.ts';
import { findAgent } from './agent-store.ts';
import { findClaim, lockClaimTokenForUpdate } from './claims/claim-store.ts';
import type { OpenClaim } from './claims/opening.ts';
import { findAgentOfCredential } from './credential-store.ts';
import type { Credentials } from './credentials.ts';
import { registerAgent, type NewAgentDependencies } from './new-agent.ts';

/** Sandbox sessions become agents only when a claim begins: until then nothing is stored of them. */
export interface SandboxAgents {
  /**
   * Makes a sandbox session an agent, with a claim whose token is the session's.
   * @returns false when the token is not that of a live sandbox session
   */
  adopt(token: string, client: Client): Promise<boolean>;
}

interface Dependencies extends NewAgentDependencies {
  readonly knex: Knex;
  readonly tokens: Pick<Tokens, 'readSandboxToken'>;
  readonly credentials: Credentials;
  readonly openClaim: OpenClaim;
}

export function createSandboxAgents(deps: Dependencies): SandboxAgents {
  const { knex, tokens, credentials, openClaim, clock } = deps;

  async function register(
    trx: Knex.Transaction,
    token: string,
    expiresAt: Date,
    client: Client,
  ): Promise<string> {
    const { agent_id: agentId } = await registerAgent(deps, trx, { registrationType: 'anonymous' }, client);
    const scopes = PRE_CLAIM_SCOPES.sandbox_token;
    await credentials.adopt(trx, agentId, { type: 'sandbox_token', credential: token, scopes, expiresAt });
    return agentId;
  }

  return {
    async adopt(token, client) {
      if (readClaimed(token)?.typ !== 'sandbox+jwt') return false;
      const session = await tokens.readSandboxToken(token);
      if (!session?.isUnique || session.expiresAt <= clock.now()) return false;
      return knex.transaction(async (trx) => {
        const digest = tokenDigest(token);
        await lockClaimTokenForUpdate(trx, digest);
        if (await findClaim(trx, digest)) return true;
        const ownerId = await findAgentOfCredential(trx, digest);
        // A token that was issued to an agent is its credential, or was revoked.
        if (ownerId === undefined && (await findAgent(trx, session.username))) return false;
        const agentId = ownerId ?? (await register(trx, token, session.expiresAt, client));
        await openClaim(trx, { agentId, email: null, type: null, scopes: POST_CLAIM_SCOPES }, token);
        return true;
      });
    },
  };
}
