import { SKEW_LIMIT_MS } from '../../platform/database/index.ts';
import type { InstallationState } from './installation-state.ts';

export interface InstallationWarning {
  readonly code: string;
  /** What it means and what to do. */
  readonly message: string;
}

/** The settings that a report looks at; undefined where one is not set. */
export interface ReportedSettings {
  readonly stripe: object | undefined;
  readonly smtpUrl: string | undefined;
  readonly filesUrl: string | undefined;
  readonly baseUrl: string | undefined;
  readonly masterKeys: readonly Buffer[] | undefined;
  readonly adminTokens: readonly string[] | undefined;
  readonly databaseUrl: string | undefined;
  readonly demo: boolean;
}

/** Settings that deserve attention. */
export function warningsOfSettings(settings: ReportedSettings): InstallationWarning[] {
  const { stripe, smtpUrl, baseUrl, masterKeys, adminTokens, databaseUrl, demo } = settings;
  return found([
    stripe === undefined && [
      'TEST_PROCESSOR',
      'Payments go through the embedded test processor, and no money moves: set STRIPE_SECRET_KEY.',
    ],
    smtpUrl === undefined && ['NO_SMTP_SERVER', 'Mails are written to files and not sent: set SMTP_URL.'],
    baseUrl === undefined && [
      'NO_BASE_URL',
      'Links and tokens name the listening address: set BASE_URL to the public one.',
    ],
    baseUrl?.startsWith('http:') === true && [
      'HTTP_BASE_URL',
      'BASE_URL is not an https address, so that tokens are sent without encryption.',
    ],
    masterKeys === undefined && [
      'GENERATED_MASTER_KEY',
      'The master key is a file next to the data that it encrypts: set MASTER_KEY, and keep a copy elsewhere.',
    ],
    adminTokens === undefined &&
      databaseUrl === undefined && [
        'GENERATED_ADMIN_TOKEN',
        "The administrator's token is a file in the data folder: set ADMIN_TOKEN.",
      ],
    databaseUrl === undefined && [
      'EMBEDDED_DATABASE',
      'The database runs inside of this process: set DATABASE_URL to run several nodes and to have a standby.',
    ],
    demo && ['DEMO', 'The demo application is enabled: unset DEMO in production.'],
  ]);
}

/** States that deserve attention. */
export function warningsOfState(state: InstallationState): InstallationWarning[] {
  const { nodes, database, queues } = state;
  const alive = nodes.filter((node) => node.state === 'alive');
  const setAside = [
    queues.eventsSetAside,
    queues.brokerEventsSetAside,
    queues.securityEventsSetAside,
    queues.paymentEventsSetAside,
  ].some((count) => (count ?? 0) > 0);
  return found([
    alive.length < nodes.length && [
      'LOST_NODES',
      'A node has ended without leaving. It is forgotten after an hour, or returns when it is started again.',
    ],
    new Set(alive.map(({ version }) => version)).size > 1 && [
      'DIFFERENT_VERSIONS',
      'Nodes run different versions: finish the update.',
    ],
    Math.abs(database.clockSkewSeconds) * 1000 > SKEW_LIMIT_MS && [
      'CLOCK_SKEW',
      'The clock of this machine differs from the clock of the database: check NTP on both.',
    ],
    database.awaitsStandby === true && [
      'STANDBY_LOST',
      'Commits wait for a synchronous standby that does not respond: see the manual about replication.',
    ],
    setAside && [
      'SET_ASIDE',
      'Items are set aside because they cannot be processed: the log names each one.',
    ],
    (queues.failedMails ?? 0) > 0 && ['FAILED_MAILS', 'Mails could not be sent: the log has the reasons.'],
    (database.pendingMigrations ?? 0) > 0 && [
      'PENDING_MIGRATIONS',
      'The database has an older schema than this version: run the migrations.',
    ],
  ]);
}

function found(all: readonly (false | readonly [code: string, message: string])[]): InstallationWarning[] {
  return all.flatMap((each) => (each ? [{ code: each[0], message: each[1] }] : []));
}
