import type { ApiTokens } from './api-tokens/api-tokens.ts';
import type { Applications } from './applications/applications.ts';
import type { Audit } from './audit/audit.ts';
import type { Cluster } from './cluster/cluster.ts';
import type { Developers } from './developers/developers.ts';
import type { Health } from './health/health.ts';
import type { Idempotency } from './idempotency/idempotency.ts';
import type { Licenses } from './licenses/licenses.ts';
import type { Limits } from './limits/limits.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Moderation } from './moderation/moderation.ts';
import type { Plans } from './plans/plans.ts';
import type { Relay } from './relay/relay.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Signatures } from './signatures/signatures.ts';
import type { Logins } from './users/logins.ts';
import type { Users } from './users/users.ts';
import type { Vpn } from './vpn/vpn.ts';

/** The use cases that handlers and the server around them call. */
export interface Services {
  readonly apiTokens: ApiTokens;
  readonly applications: Applications;
  readonly audit: Audit;
  readonly cluster: Cluster;
  readonly developers: Developers;
  readonly health: Health;
  readonly idempotency: Idempotency;
  readonly licenses: Licenses;
  readonly limits: Limits;
  readonly logins: Logins;
  readonly metrics: Metrics;
  readonly moderation: Moderation;
  readonly plans: Plans;
  readonly relay: Relay;
  readonly sandbox: Sandbox;
  readonly sessions: Sessions;
  readonly signatures: Signatures;
  readonly users: Users;
  readonly vpn: Vpn;
}
