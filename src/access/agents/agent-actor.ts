import type { Actor } from '../../foundation/audit/audit.ts';
import type { Client } from '../../platform/address.ts';

/** The developer id of audit log entries that concern no developer. */
const NO_DEVELOPER = 'administrator';

/** An agent as the actor of an audit log entry. */
export function agentActor(agentId: string, developerId: string | null, { address }: Client): Actor {
  return { kind: 'agent', id: agentId, developerId: developerId ?? NO_DEVELOPER, address };
}
