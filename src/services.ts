import type { Addresses } from './addresses/addresses.ts';
import type { Administrators } from './administration/administrators.ts';
import type { AccessTokens } from './access-tokens/access-tokens.ts';
import type { Agents } from './agents/agents.ts';
import type { ApiTokens } from './api-tokens/api-tokens.ts';
import type { Applications } from './applications/applications.ts';
import type { Audit } from './audit/audit.ts';
import type {
  Checkouts,
  Invoices,
  PlanSubscriptions,
  Reconciliation,
  Settlement,
} from './billing/billing.ts';
import type { BearerTokens } from './bearer-tokens/bearer-tokens.ts';
import type { Cluster } from './cluster/cluster.ts';
import type { DeveloperPasswords } from './developer-passwords/developer-passwords.ts';
import type { Developers } from './developers/developers.ts';
import type { Discovery } from './discovery/discovery.ts';
import type { Events } from './events/events.ts';
import type { Files } from './files/files.ts';
import type { Health } from './health/health.ts';
import type { Idempotency } from './idempotency/idempotency.ts';
import type { Licenses } from './licenses/licenses.ts';
import type { Limits } from './limits/limits.ts';
import type { MachinePayments } from './machine-payments/machine-payments.ts';
import type { Mails } from './mails/mails.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Moderation } from './moderation/moderation.ts';
import type { AuthorizationServer, Authorizations, OAuthClients } from './oauth/oauth.ts';
import type { Passwords } from './passwords/passwords.ts';
import type { Plans } from './plans/plans.ts';
import type { Realtime } from './realtime/realtime.ts';
import type { BrokerFeed } from './relay/broker-feed.ts';
import type { Relay } from './relay/relay.ts';
import type { ResellerAccount } from './resellers/reseller-account.ts';
import type { ResellerPayments, Resellers } from './resellers/resellers.ts';
import type { Restoration } from './restoration/restoration.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import type { SecurityEvents } from './security-events/security-events.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Signatures } from './signatures/signatures.ts';
import type { SigningKeys } from './signing-keys/signing-keys.ts';
import type { DailyStatistics } from './statistics/statistics.ts';
import type { Logins } from './users/logins.ts';
import type { HwidResets, UserDirectory, UserImports, UserManagement, Users } from './users/users.ts';
import type { Variables } from './variables/variables.ts';
import type { Vpn } from './vpn/vpn.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

/** The use cases that handlers and the server around them call. */
export interface Services {
  readonly accessTokens: AccessTokens;
  readonly addresses: Addresses;
  readonly administrators: Administrators;
  readonly agents: Agents;
  readonly apiTokens: ApiTokens;
  readonly applications: Applications;
  readonly audit: Audit;
  readonly authorizations: Authorizations;
  readonly authorizationServer: AuthorizationServer;
  readonly bearerTokens: BearerTokens;
  /** Undefined without a broker outside. */
  readonly brokerFeed: BrokerFeed | undefined;
  readonly checkouts: Checkouts;
  readonly cluster: Cluster;
  readonly developerPasswords: DeveloperPasswords;
  readonly developers: Developers;
  readonly discovery: Discovery;
  readonly events: Events;
  readonly files: Files;
  readonly health: Health;
  readonly hwidResets: HwidResets;
  readonly idempotency: Idempotency;
  readonly invoices: Invoices;
  readonly licenses: Licenses;
  readonly limits: Limits;
  readonly logins: Logins;
  readonly machinePayments: MachinePayments;
  readonly mails: Mails;
  readonly metrics: Metrics;
  readonly moderation: Moderation;
  readonly oauthClients: OAuthClients;
  readonly restoration: Restoration;
  readonly passwords: Passwords;
  readonly plans: Plans;
  readonly planSubscriptions: PlanSubscriptions;
  readonly realtime: Realtime;
  readonly reconciliation: Reconciliation;
  readonly relay: Relay;
  readonly resellerAccount: ResellerAccount;
  readonly resellerPayments: ResellerPayments;
  readonly resellers: Resellers;
  readonly sandbox: Sandbox;
  readonly securityEvents: SecurityEvents;
  readonly sessions: Sessions;
  readonly settlement: Settlement;
  readonly signatures: Signatures;
  readonly signingKeys: SigningKeys;
  readonly statistics: DailyStatistics;
  readonly userDirectory: UserDirectory;
  readonly userImports: UserImports;
  readonly userManagement: UserManagement;
  readonly users: Users;
  readonly variables: Variables;
  readonly vpn: Vpn;
  readonly webhooks: Webhooks;
}
