import type { Knex } from 'knex';
import type { Audit } from '../../foundation/audit/audit.ts';
import type { Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import { agentActor } from './agent-actor.ts';
import { putDelegation } from './delegation-store.ts';
import type { SubjectOfIssuer } from './issuer-state.ts';

/**
 * Delegates a subject to a developer: agents that the issuer asserts to be the subject then act for the
 * developer.
 * @param agent the agent that was claimed
 */
export async function grantDelegation(
  { audit, clock }: { readonly audit: Audit; readonly clock: Clock },
  trx: Knex.Transaction,
  { issuer, subject }: SubjectOfIssuer,
  agent: { readonly agentId: string; readonly developerId: string },
  client: Client,
): Promise<void> {
  const { agentId, developerId } = agent;
  await putDelegation(trx, { issuer, subject }, developerId, clock.now());
  await audit.record(trx, agentActor(agentId, developerId, client), {
    action: 'agent.delegation_granted',
    target: agentId,
    data: { issuer, subject },
  });
}
