import { createApiTokens } from '../api-tokens/api-tokens.ts';
import { createApplications } from '../applications/applications.ts';
import { createDevelopers } from '../developers/developers.ts';
import { createEvents } from '../events/events.ts';
import { createIdempotency } from '../idempotency/idempotency.ts';
import { createSignatures } from '../signatures/signatures.ts';
import type { Foundation } from './foundation.ts';

export type Accounts = ReturnType<typeof composeAccounts>;

/** Developers, their applications, and the record of what they do. */
export function composeAccounts(foundation: Foundation) {
  const { config, broker, database } = foundation;
  const { eventDays, nonceDays } = config;
  const events = createEvents({ ...foundation, eventDays, hasBroker: !broker.embedded });
  const developers = createDevelopers(foundation);
  const applications = createApplications({ ...foundation, developers, events });
  return {
    events,
    developers,
    applications,
    apiTokens: createApiTokens({ ...foundation, developers }),
    signatures: createSignatures({ ...foundation, applications, nonceDays }),
    idempotency: createIdempotency({ ...foundation, inOneTransaction: database.inOneTransaction }),
  };
}
