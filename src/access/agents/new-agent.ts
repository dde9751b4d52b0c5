import type { Knex } from 'knex';
import type { Audit } from '../../foundation/audit/audit.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import { agentActor } from './agent-actor.ts';
import { insertAgent, type AgentRow } from './agent-store.ts';
import type { RegistrationType } from './agent.ts';

/** The details of an agent that registers itself. */
export interface NewAgent {
  readonly registrationType: Exclude<RegistrationType, 'developer'>;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  /** The developer that the agent acts for; undefined while it is unclaimed. */
  readonly developerId?: string | undefined;
  /** The identity that an issuer asserts. */
  readonly identity?: { readonly issuer: string; readonly subject: string; readonly clientId: string };
}

export interface NewAgentDependencies {
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Writes an agent that registers itself, with its entry in the audit log. */
export async function registerAgent(
  { audit, clock, newId }: NewAgentDependencies,
  trx: Knex.Transaction,
  { registrationType, name, email, developerId, identity }: NewAgent,
  client: Client,
): Promise<AgentRow> {
  const now = clock.now();
  const agent: AgentRow = {
    agent_id: newId('agt'),
    developer_id: developerId ?? null,
    registration_type: registrationType,
    name: name ?? null,
    issuer: identity?.issuer ?? null,
    subject: identity?.subject ?? null,
    client_id: identity?.clientId ?? null,
    email: email ?? null,
    created_at: now,
    claimed_at: developerId === undefined ? null : now,
    revoked_at: null,
  };
  await insertAgent(trx, agent);
  await audit.record(trx, agentActor(agent.agent_id, agent.developer_id, client), {
    action: 'agent.registered',
    target: agent.agent_id,
    data: {
      registration_type: registrationType,
      ...(identity && { issuer: identity.issuer, subject: identity.subject }),
    },
  });
  return agent;
}
