import type { Knex } from 'knex';
import type { Scope } from '../../accounts/developers/developers.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Random } from '../../platform/random.ts';
import { tokenDigest, type Tokens } from '../../foundation/tokens/tokens.ts';
import { lockAgentForUpdate } from './agent-store.ts';
import * as store from './credential-store.ts';
import type { CredentialType } from './credential-types.ts';
import type { Credential } from './credential.ts';

const HOUR_MS = 60 * 60 * 1000;

const LIFETIMES: Readonly<Record<CredentialType, number>> = {
  bearer_token: 90 * 24 * HOUR_MS,
  jwt: HOUR_MS,
  sandbox_token: HOUR_MS,
  ephemeral_key: 24 * HOUR_MS,
};

/** The most credentials of a type per agent: enough for one per process, and a new one is never refused. */
const LIVE_AT_MOST = 25;

/** The application that sandbox tokens of agents are valid for. */
const SANDBOX_APP = 'sandbox';

/** Issues the credentials of agents. Only digests are stored. An agent keeps its newest 25 of each type. */
export interface Credentials {
  /**
   * @param agent with the developer it acts for; null while it is unclaimed
   * @param type `jwt` only for a claimed agent
   */
  issue(
    trx: Knex.Transaction,
    agent: { readonly agentId: string; readonly developerId: string | null },
    type: CredentialType,
    scopes: readonly Scope[],
  ): Promise<Credential>;
  /** Replaces the scopes of an agent's credentials. @returns how many are live */
  upgrade(trx: Knex.Transaction, agentId: string, scopes: readonly Scope[]): Promise<number>;
  /** Stores the digest of a credential that the agent already has. */
  adopt(trx: Knex.Transaction, agentId: string, given: Credential): Promise<void>;
}

interface Dependencies {
  readonly tokens: Pick<Tokens, 'signAccessToken' | 'signSandboxToken'>;
  readonly clock: Clock;
  readonly random: Random;
}

export function createCredentials({ tokens, clock, random }: Dependencies): Credentials {
  async function make(
    { agentId, developerId }: { readonly agentId: string; readonly developerId: string | null },
    type: CredentialType,
    scopes: readonly Scope[],
    times: { readonly issuedAt: Date; readonly expiresAt: Date },
  ): Promise<string> {
    if (type === 'bearer_token') return `lka_${random.bytes(32).toString('base64url')}`;
    if (type === 'ephemeral_key') return `lke_${random.bytes(32).toString('base64url')}`;
    if (type === 'jwt') {
      return tokens.signAccessToken({ subject: developerId ?? agentId, clientId: agentId, scopes, ...times });
    }
    const machine = random.bytes(32).toString('base64url');
    return tokens.signSandboxToken({ appId: SANDBOX_APP, username: agentId, machine, ...times });
  }

  async function keep(
    trx: Knex.Transaction,
    agentId: string,
    given: Credential,
    createdAt: Date,
  ): Promise<void> {
    const row = {
      token_digest: tokenDigest(given.credential),
      agent_id: agentId,
      credential_type: given.type,
      scopes: [...given.scopes],
      created_at: createdAt,
      expires_at: given.expiresAt,
    };
    await lockAgentForUpdate(trx, agentId);
    await store.insertCredential(trx, row);
    await store.endOldest(trx, row, LIVE_AT_MOST - 1);
  }

  return {
    async issue(trx, agent, type, scopes) {
      const issuedAt = clock.now();
      // Tokens count whole seconds.
      const expiresAt = new Date(Math.floor(issuedAt.getTime() / 1000) * 1000 + LIFETIMES[type]);
      const credential = await make(agent, type, scopes, { issuedAt, expiresAt });
      const given = { type, credential, scopes, expiresAt };
      await keep(trx, agent.agentId, given, issuedAt);
      return given;
    },
    upgrade: (trx, agentId, scopes) => store.replaceScopes(trx, agentId, scopes, clock.now()),
    adopt: (trx, agentId, given) => keep(trx, agentId, given, clock.now()),
  };
}
