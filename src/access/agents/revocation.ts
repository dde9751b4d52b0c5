import type { Knex } from 'knex';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Actor, Audit } from '../../foundation/audit/audit.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Revocation as RevocationEvent, SecurityEvents } from '../security-events/security-events.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import * as agentStore from './agent-store.ts';
import { agentActor } from './agent-actor.ts';
import * as claimStore from './claims/claim-store.ts';
import * as credentialStore from './credential-store.ts';
import * as delegationStore from './delegation-store.ts';

type AgentFilter = Parameters<typeof agentStore.markRevoked>[1];

/** Revokes agents and their credentials. */
export interface AgentRevocation {
  /**
   * Revokes one credential for the client that presents it. An unknown one counts as revoked (RFC 7009,
   * section 2.2).
   * @throws ApiError VALIDATION_FAILED without one
   */
  revokeCredential(credential: string | undefined, client: Client): Promise<void>;
  /** Revokes an agent with everything that it holds. @throws ApiError AGENT_NOT_FOUND */
  revoke(actor: Actor, agentId: string): Promise<void>;
  /**
   * Withdraws the developer's confirmations of claims that are not completed. A caller that then revokes
   * every agent in a transaction that locks the developer calls this first, to lock in the same order as
   * admission does.
   */
  withdrawConfirmations(trx: Knex.Transaction, developerId: string): Promise<void>;
  /** Revokes every agent of the developer. @returns how many were live */
  revokeAll(actor: Actor): Promise<number>;
}

export interface Revocation extends AgentRevocation {
  /**
   * Revokes live agents with everything that they hold, inside the caller's transaction, and sends a security
   * event for each.
   * @param by.actor the actor in the audit log; an agent that acts for no developer has no entry and no event
   * @returns how many there were
   */
  revokeWhere(
    trx: Knex.Transaction,
    which: AgentFilter,
    by: {
      readonly actor: (developerId: string) => Actor;
      readonly initiatingEntity: RevocationEvent['initiatingEntity'];
      readonly reason: string;
    },
  ): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly accessTokens: Pick<AccessTokens, 'find' | 'revoke'>;
  readonly securityEvents: Pick<SecurityEvents, 'publish'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

export function createRevocation(deps: Dependencies): Revocation {
  const { knex, accessTokens, securityEvents, audit, clock } = deps;

  const revokeWhere: Revocation['revokeWhere'] = async (trx, which, by) => {
    const now = clock.now();
    const rows = await agentStore.markRevoked(trx, which, now);
    await credentialStore.deleteCredentialsOf(
      trx,
      rows.map((row) => row.agent_id),
    );
    const { initiatingEntity } = by;
    const revocations: RevocationEvent[] = [];
    for (const { agent_id: agentId, developer_id: developerId, issuer, subject } of rows) {
      await accessTokens.revoke(trx, { agentId });
      if (developerId === null) continue;
      await audit.record(trx, by.actor(developerId), {
        action: 'agent.revoked',
        target: agentId,
        data: { issuer, subject, reason: by.reason },
      });
      revocations.push({ agentId, developerId, issuer, subject, initiatingEntity, revokedAt: now });
    }
    await securityEvents.publish(trx, revocations);
    return rows.length;
  };

  /** By the developer, or by a program that acts for them. */
  const byActor = (actor: Actor) =>
    ({
      actor: () => actor,
      initiatingEntity: actor.kind === 'administrator' ? 'admin' : 'user',
      reason: 'developer',
    }) as const;

  async function lockSubjectsForUpdate(trx: Knex.Transaction, developerId: string): Promise<void> {
    const subjects = await agentStore.listSubjectsOf(trx, developerId);
    // In a fixed order, to avoid deadlocks.
    const keys = [
      ...new Set(subjects.map(({ issuer, subject }) => JSON.stringify([issuer, subject]))),
    ].sort();
    for (const key of keys) {
      const [issuer, subject] = JSON.parse(key) as [string, string];
      await delegationStore.lockSubjectForUpdate(trx, { issuer, subject });
    }
  }

  return {
    revokeWhere,

    async withdrawConfirmations(trx, developerId) {
      await lockSubjectsForUpdate(trx, developerId);
      await claimStore.withdrawConfirmations(trx, developerId);
    },

    async revokeCredential(credential, client) {
      if (credential === undefined) throw invalidMember('/credential', 'is required');
      const digest = tokenDigest(credential);
      await knex.transaction(async (trx) => {
        const agentId =
          (await credentialStore.deleteCredential(trx, digest)) ?? (await accessTokens.find(digest))?.agentId;
        if (agentId === undefined || agentId === null) return;
        await accessTokens.revoke(trx, { tokenDigest: digest });
        const agent = await agentStore.findAgent(trx, agentId);
        const actor = agentActor(agentId, agent?.developer_id ?? null, client);
        await audit.record(trx, actor, { action: 'agent.credential_revoked', target: agentId });
      });
    },

    async revoke(actor, agentId) {
      const { developerId } = actor;
      const found = await agentStore.findAgentOf(knex, developerId, agentId);
      if (!found) throw new ApiError('AGENT_NOT_FOUND');
      await knex.transaction(async (trx) => {
        const { issuer, subject } = found;
        if (issuer !== null && subject !== null) {
          await delegationStore.lockSubjectForUpdate(trx, { issuer, subject });
          await delegationStore.deleteDelegations(trx, { issuer, subject });
        }
        await revokeWhere(trx, { agent_id: agentId, developer_id: developerId }, byActor(actor));
      });
    },

    async revokeAll(actor) {
      const { developerId } = actor;
      return knex.transaction(async (trx) => {
        await lockSubjectsForUpdate(trx, developerId);
        await delegationStore.deleteDelegations(trx, { developer_id: developerId });
        const count = await revokeWhere(trx, { developer_id: developerId }, byActor(actor));
        await audit.record(trx, actor, { action: 'agents.revoked', data: { count } });
        return count;
      });
    },
  };
}
