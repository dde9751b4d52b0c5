import { createAdministrators } from '../../accounts/administrators/administrators.ts';
import { createApiTokens } from '../../accounts/api-tokens/api-tokens.ts';
import { createApplicationKeys } from '../../accounts/application-keys/application-keys.ts';
import { createApplications } from '../../accounts/applications/applications.ts';
import { createDevelopers } from '../../accounts/developers/developers.ts';
import { createPlans } from '../../accounts/plans/plans.ts';
import { createSignatures } from '../../accounts/signatures/signatures.ts';
import type { Foundation } from './foundation.ts';

export type Accounts = ReturnType<typeof composeAccounts>;

/** Developers with their plans, their applications, and the credentials of both. */
export function composeAccounts(foundation: Foundation) {
  const { config, adminTokens } = foundation;
  const { nonceDays } = config;
  const plans = createPlans(foundation);
  const developers = createDevelopers({ ...foundation, plans });
  const applicationKeys = createApplicationKeys(foundation);
  const applications = createApplications({ ...foundation, developers, applicationKeys });
  return {
    administrators: createAdministrators(adminTokens),
    plans,
    developers,
    applications,
    applicationKeys,
    apiTokens: createApiTokens({ ...foundation, developers }),
    signatures: createSignatures({ ...foundation, applications, nonceDays }),
  };
}
