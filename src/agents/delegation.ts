import type { Knex } from 'knex';
import type { Audit } from '../audit/audit.ts';
import type { Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import { agentActor } from './agent-actor.ts';
import { putDelegation } from './delegation-store.ts';
import type { SubjectOfIssuer } from './issuer-state.ts';

/**
 * Lets an issuer's word count from now on: whoever it says is the subject acts for the developer.
 * @param agent that has brought it so far
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
