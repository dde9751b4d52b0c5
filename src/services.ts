import type { DeveloperAccounts, Installation } from './access/administration/administration.ts';
import type { Addresses } from './foundation/addresses/addresses.ts';
import type { Administrators } from './accounts/administrators/administrators.ts';
import type { AccessTokens } from './access/access-tokens/access-tokens.ts';
import type { Agents } from './access/agents/agents.ts';
import type { ApiTokens } from './accounts/api-tokens/api-tokens.ts';
import type { ApplicationKeys } from './accounts/application-keys/application-keys.ts';
import type { Applications } from './accounts/applications/applications.ts';
import type { Audit } from './foundation/audit/audit.ts';
import type {
  Checkouts,
  Invoices,
  PlanSubscriptions,
  Reconciliation,
  Revenue,
  Settlement,
} from './commerce/billing/billing.ts';
import type { BrowserSessions } from './access/browser-sessions/browser-sessions.ts';
import type { BearerTokens } from './access/bearer-tokens/bearer-tokens.ts';
import type { Cluster } from './foundation/cluster/cluster.ts';
import type { DeveloperPasswords } from './access/developer-passwords/developer-passwords.ts';
import type { Developers } from './accounts/developers/developers.ts';
import type { Devices } from './licensing/devices/devices.ts';
import type { Discovery } from './access/discovery/discovery.ts';
import type { Events } from './foundation/events/events.ts';
import type { Files } from './licensing/files/files.ts';
import type { Health } from './foundation/health/health.ts';
import type { Idempotency } from './foundation/idempotency/idempotency.ts';
import type { LastUses } from './foundation/last-uses/last-uses.ts';
import type { Licenses } from './licensing/licenses/licenses.ts';
import type { Limits } from './foundation/limits/limits.ts';
import type { MachinePayments } from './commerce/machine-payments/machine-payments.ts';
import type { Mails } from './messaging/mails/mails.ts';
import type { Metrics } from './foundation/metrics/metrics.ts';
import type { BulkModeration } from './licensing/moderation/bulk-moderation.ts';
import type { Moderation } from './licensing/moderation/moderation.ts';
import type { AuthorizationServer, Authorizations, OAuthClients } from './access/oauth/oauth.ts';
import type { Passwords } from './foundation/passwords/passwords.ts';
import type { Plans } from './accounts/plans/plans.ts';
import type { Realtime } from './messaging/realtime/realtime.ts';
import type { BrokerFeed } from './messaging/relay/broker-feed.ts';
import type { Relay } from './messaging/relay/relay.ts';
import type { ResellerAccount } from './commerce/resellers/reseller-account.ts';
import type { ResellerPayments, Resellers } from './commerce/resellers/resellers.ts';
import type { Restoration } from './access/restoration/restoration.ts';
import type { Sandbox } from './access/sandbox/sandbox.ts';
import type { Search } from './licensing/search/search.ts';
import type { SecurityEvents } from './access/security-events/security-events.ts';
import type { Sessions } from './licensing/sessions/sessions.ts';
import type { Signatures } from './accounts/signatures/signatures.ts';
import type { SigningKeys } from './foundation/signing-keys/signing-keys.ts';
import type { DailyStatistics } from './licensing/statistics/statistics.ts';
import type { Logins } from './licensing/users/logins.ts';
import type { Renewals } from './licensing/users/renewals.ts';
import type { RefusedLogins } from './licensing/users/refused-logins.ts';
import type {
  HwidResets,
  UserDirectory,
  UserImports,
  UserManagement,
  Users,
} from './licensing/users/users.ts';
import type { Variables } from './licensing/variables/variables.ts';
import type { Vpn } from './foundation/vpn/vpn.ts';
import type { Webhooks } from './messaging/webhooks/webhooks.ts';

/** The use cases that handlers and the server around them call. */
export interface Services {
  readonly accessTokens: AccessTokens;
  readonly addresses: Addresses;
  readonly administrators: Administrators;
  readonly agents: Agents;
  readonly apiTokens: ApiTokens;
  readonly applicationKeys: ApplicationKeys;
  readonly applications: Applications;
  readonly audit: Audit;
  readonly authorizations: Authorizations;
  readonly authorizationServer: AuthorizationServer;
  readonly bearerTokens: BearerTokens;
  readonly browserSessions: BrowserSessions;
  /** Undefined without a broker outside. */
  readonly brokerFeed: BrokerFeed | undefined;
  readonly checkouts: Checkouts;
  readonly cluster: Cluster;
  readonly developerAccounts: DeveloperAccounts;
  readonly developerPasswords: DeveloperPasswords;
  readonly developers: Developers;
  readonly devices: Devices;
  readonly discovery: Discovery;
  readonly events: Events;
  readonly files: Files;
  readonly health: Health;
  readonly hwidResets: HwidResets;
  readonly idempotency: Idempotency;
  readonly installation: Installation;
  readonly invoices: Invoices;
  readonly lastUses: LastUses;
  readonly licenses: Licenses;
  readonly limits: Limits;
  readonly logins: Logins;
  readonly machinePayments: MachinePayments;
  readonly mails: Mails;
  readonly metrics: Metrics;
  readonly moderation: Moderation & BulkModeration;
  readonly oauthClients: OAuthClients;
  readonly restoration: Restoration;
  readonly passwords: Passwords;
  readonly plans: Plans;
  readonly planSubscriptions: PlanSubscriptions;
  readonly realtime: Realtime;
  readonly reconciliation: Reconciliation;
  readonly refusedLogins: RefusedLogins;
  readonly relay: Relay;
  readonly renewals: Renewals;
  readonly resellerAccount: ResellerAccount;
  readonly resellerPayments: ResellerPayments;
  readonly resellers: Resellers;
  readonly revenue: Revenue;
  readonly sandbox: Sandbox;
  readonly search: Search;
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
