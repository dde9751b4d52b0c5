import type { Sources } from './sources.ts';

/** The schema of the event `agent-revoked` in a Security Event Token (RFC 8417), served at the URI of the event. */
export function agentRevokedSchema({ agentRevoked }: Pick<Sources, 'agentRevoked'>): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: agentRevoked(),
    title: 'agent-revoked',
    description:
      'An agent was revoked, and its credentials are no longer valid. The `sub_id` of the token (RFC 9493) ' +
      'identifies the agent: by `iss` and `sub` if an issuer asserted its identity, otherwise by its id. In a token ' +
      'that an issuer sends to this service, all members of the event are optional.',
    type: 'object',
    properties: {
      agent_id: { type: 'string', description: 'The agent, in tokens that this service sends.' },
      initiating_entity: {
        enum: ['admin', 'user', 'policy', 'system'],
        description: 'Who revoked the agent (CAEP).',
      },
      event_timestamp: { type: 'integer', description: 'The time, in seconds since 1970 (CAEP).' },
      reason: { type: 'string' },
    },
  };
}
