import type { Actor } from '../audit/audit.ts';
import type { Client } from '../platform/address.ts';

/** Under this name stands in the audit log what concerns no developer. */
const NOBODY = 'administrator';

/** An agent as the audit log has it. */
export function agentActor(agentId: string, developerId: string | null, { address }: Client): Actor {
  return { kind: 'agent', id: agentId, developerId: developerId ?? NOBODY, address };
}
