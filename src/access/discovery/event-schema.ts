import type { Sources } from './sources.ts';

/** What the event `agent-revoked` holds, in a Security Event Token (RFC 8417): the page behind its name. */
export function agentRevokedSchema({ agentRevoked }: Pick<Sources, 'agentRevoked'>): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: agentRevoked(),
    title: 'agent-revoked',
    description:
      'An agent was revoked: nothing that it holds is good any more. The token that carries the event names the agent in `sub_id` (RFC 9493): by `iss` and `sub` where an issuer has asserted its identity, otherwise by its identifier. A token that this service takes from an issuer needs no members here.',
    type: 'object',
    properties: {
      agent_id: { type: 'string', description: 'The agent, in tokens that this service sends.' },
      initiating_entity: {
        enum: ['admin', 'user', 'policy', 'system'],
        description: 'Who has revoked it (CAEP).',
      },
      event_timestamp: { type: 'integer', description: 'When, in seconds since 1970 (CAEP).' },
      reason: { type: 'string' },
    },
  };
}
