import type { Agent } from './queries.ts';

/** What an agent calls itself, or else its identifier. */
export const agentName = ({ name, agent_id }: Agent): string => name ?? agent_id;

/** How an agent got access to the account. */
export const REGISTRATIONS: Readonly<
  Record<Agent['registration_type'], { readonly short: string; readonly long: string }>
> = {
  developer: { short: 'Created by you', long: 'You created the agent, so there was nothing to claim.' },
  anonymous: {
    short: 'Claimed by you',
    long: 'The agent registered without an identity. You claimed it with the code that you gave it.',
  },
  'email-verification': {
    short: 'Claimed by email',
    long: 'The agent registered with your email address. You claimed it with the code that you gave it.',
  },
  'agent-provider': {
    short: 'Asserted by an issuer',
    long: 'An issuer that the operator trusts asserted that the agent acts for you, and you approved it.',
  },
};
