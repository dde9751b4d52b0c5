import { RequestScope } from '../../platform/request-scope.ts';
import type { Identity } from './authentication.ts';

/** The tenant of a request with a token: a developer, the application of a session, or an agent. */
export function tenantOf({ actor, session, agent }: Identity): string | undefined {
  return actor?.developerId ?? session?.appId ?? agent?.id;
}

/** Counts the work of the current request towards a tenant's share of limited resources. */
export function setTenant(tenant: string | undefined): void {
  const scope = RequestScope.current();
  if (scope && tenant !== undefined) scope.tenant = tenant;
}
