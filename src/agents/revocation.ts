import type { Knex } from 'knex';
import type { AccessTokens } from '../access-tokens/access-tokens.ts';
import type { Actor, Audit } from '../audit/audit.ts';
import { ApiError, invalidMember } from '../errors/api-error.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { Revocation as Told, SecurityEvents } from '../security-events/security-events.ts';
import { tokenDigest } from '../tokens/tokens.ts';
import * as agentStore from './agent-store.ts';
import { AssertionError, type AssertionFault, type Assertions } from './assertions.ts';
import { agentActor } from './agent-actor.ts';
import * as claimStore from './claim-store.ts';
import * as credentialStore from './credential-store.ts';
import * as delegationStore from './delegation-store.ts';
import type { SubjectOfIssuer } from './issuer-state.ts';

/** By this name issuers know the event besides ours. */
const EVENT_OF_AUTH_MD = 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked';

/** What RFC 8935 calls it (section 2.4). */
const ERR: Partial<Record<AssertionFault, string>> = {
  invalid_issuer: 'invalid_issuer',
  invalid_audience: 'invalid_audience',
  invalid_signature: 'authentication_failed',
  unknown_key: 'invalid_key',
};

type Which = Parameters<typeof agentStore.markRevoked>[1];

/** Ends what agents may do. */
export interface Revocation {
  /**
   * Revokes live agents with all that they hold, inside the caller's transaction, and tells of each.
   * @param by who stands in the audit log for it; of an agent that acts for nobody nobody is told
   * @returns how many there were
   */
  revokeWhere(
    trx: Knex.Transaction,
    which: Which,
    by: {
      readonly actor: (developerId: string) => Actor;
      readonly initiatingEntity: Told['initiatingEntity'];
      readonly reason: string;
    },
  ): Promise<number>;
  revokeCredential(credential: string | undefined, client: Client): Promise<void>;
  receiveSecurityEvent(token: string, kind: 'secevent' | 'logout', client: Client): Promise<void>;
  revoke(actor: Actor, agentId: string): Promise<void>;
  withdrawConfirmations(trx: Knex.Transaction, developerId: string): Promise<void>;
  revokeAll(actor: Actor): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly accessTokens: Pick<AccessTokens, 'find' | 'revoke'>;
  readonly assertions: Assertions;
  readonly securityEvents: Pick<SecurityEvents, 'agentRevoked' | 'tell'>;
  readonly audit: Audit;
  readonly clock: Clock;
}

export function createRevocation(deps: Dependencies): Revocation {
  const { knex, accessTokens, assertions, securityEvents, audit, clock } = deps;

  const revokeWhere: Revocation['revokeWhere'] = async (trx, which, by) => {
    const now = clock.now();
    const rows = await agentStore.markRevoked(trx, which, now);
    await credentialStore.deleteCredentialsOf(
      trx,
      rows.map((row) => row.agent_id),
    );
    const { initiatingEntity } = by;
    const told: Told[] = [];
    for (const { agent_id: agentId, developer_id: developerId, issuer, subject } of rows) {
      await accessTokens.revoke(trx, { agentId });
      if (developerId === null) continue;
      await audit.record(trx, by.actor(developerId), {
        action: 'agent.revoked',
        target: agentId,
        data: { issuer, subject, reason: by.reason },
      });
      told.push({ agentId, developerId, issuer, subject, initiatingEntity, revokedAt: now });
    }
    await securityEvents.tell(trx, told);
    return rows.length;
  };

  /** By the developer or whoever acts for him. */
  const byActor = (actor: Actor) =>
    ({
      actor: () => actor,
      initiatingEntity: actor.kind === 'administrator' ? 'admin' : 'user',
      reason: 'developer',
    }) as const;

  async function verifyEvent(token: string, kind: 'secevent' | 'logout') {
    try {
      return await assertions.verifyEvent(token.trim(), kind, [
        securityEvents.agentRevoked(),
        EVENT_OF_AUTH_MD,
      ]);
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error;
      throw new ApiError('INVALID_SECURITY_EVENT', {
        detail: error.message,
        members: { err: ERR[error.fault] ?? 'invalid_request', description: error.message },
        cause: error,
      });
    }
  }

  async function revokeSubject(
    trx: Knex.Transaction,
    of: SubjectOfIssuer,
    { address }: Client,
  ): Promise<void> {
    await delegationStore.lockSubject(trx, of);
    await delegationStore.deleteDelegations(trx, of);
    await revokeWhere(trx, of, {
      actor: (developerId) => ({ kind: 'service', id: of.issuer, developerId, address }),
      initiatingEntity: 'policy',
      reason: 'issuer',
    });
  }

  async function lockSubjectsOf(trx: Knex.Transaction, developerId: string): Promise<void> {
    const subjects = await agentStore.listSubjectsOf(trx, developerId);
    // In one order, so that nobody waits for somebody who waits for him.
    const keys = [
      ...new Set(subjects.map(({ issuer, subject }) => JSON.stringify([issuer, subject]))),
    ].sort();
    for (const key of keys) {
      const [issuer, subject] = JSON.parse(key) as [string, string];
      await delegationStore.lockSubject(trx, { issuer, subject });
    }
  }

  return {
    revokeWhere,

    async withdrawConfirmations(trx, developerId) {
      await lockSubjectsOf(trx, developerId);
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

    async receiveSecurityEvent(token, kind, client) {
      const event = await verifyEvent(token, kind);
      await knex.transaction(async (trx) => {
        // Whoever sends it again has not got our answer: it is the same one.
        if (!(await delegationStore.useAssertion(trx, event.useDigest, event.rememberedUntil))) return;
        const { issuer, subject } = event;
        await revokeSubject(trx, { issuer, subject }, client);
      });
    },

    async revoke(actor, agentId) {
      const { developerId } = actor;
      const found = await agentStore.findAgentOf(knex, developerId, agentId);
      if (!found) throw new ApiError('AGENT_NOT_FOUND');
      await knex.transaction(async (trx) => {
        const { issuer, subject } = found;
        if (issuer !== null && subject !== null) {
          await delegationStore.lockSubject(trx, { issuer, subject });
          await delegationStore.deleteDelegations(trx, { issuer, subject });
        }
        await revokeWhere(trx, { agent_id: agentId, developer_id: developerId }, byActor(actor));
      });
    },

    async revokeAll(actor) {
      const { developerId } = actor;
      return knex.transaction(async (trx) => {
        await lockSubjectsOf(trx, developerId);
        await delegationStore.deleteDelegations(trx, { developer_id: developerId });
        const count = await revokeWhere(trx, { developer_id: developerId }, byActor(actor));
        await audit.record(trx, actor, { action: 'agents.revoked', data: { count } });
        return count;
      });
    },
  };
}
