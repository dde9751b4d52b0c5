import type { Applications } from './applications/applications.ts';
import type { Developers } from './developers/developers.ts';
import type { Health } from './health/health.ts';
import type { Licenses } from './licenses/licenses.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Users } from './users/users.ts';

/** The use cases that handlers call. */
export interface Services {
  readonly applications: Applications;
  readonly developers: Developers;
  readonly health: Health;
  readonly licenses: Licenses;
  readonly sessions: Sessions;
  readonly users: Users;
}
