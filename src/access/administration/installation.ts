import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import type { Applications } from '../../accounts/applications/applications.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import type { Cluster } from '../../foundation/cluster/cluster.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { SigningKey, SigningKeys } from '../../foundation/signing-keys/signing-keys.ts';
import type { UserDirectory } from '../../licensing/users/users.ts';
import type { Mails } from '../../messaging/mails/mails.ts';
import type { Webhooks } from '../../messaging/webhooks/webhooks.ts';
import type { Broker } from '../../platform/broker/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Count } from '../../platform/database/bounded-count.ts';
import type { Database } from '../../platform/database/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { PaymentProcessor } from '../../platform/payments/index.ts';
import { VERSION } from '../../platform/version.ts';
import type { SecurityEvents } from '../security-events/security-events.ts';
import type { InstallationState } from './installation-state.ts';
import { findDatabaseFacts } from './installation-store.ts';
import {
  warningsOfSettings,
  warningsOfState,
  type InstallationWarning,
  type ReportedSettings,
} from './installation-warnings.ts';

/** A part that takes longer is shown as unavailable. */
const PART_MS = 2_000;

export interface InstallationReport extends InstallationState {
  readonly version: string;
  readonly checkedAt: Date;
  readonly mail: { readonly embedded: boolean };
  readonly files: { readonly embedded: boolean };
  readonly paymentProcessor: string;
  /** Null is unknown. */
  readonly counts: Readonly<Record<'developers' | 'applications' | 'users', Count | null>>;
  readonly signingKeys: readonly SigningKey[];
  readonly warnings: readonly InstallationWarning[];
}

/** The state of the whole installation, for the administrator. It contains no secrets. */
export interface Installation {
  /** Looks at every part at once. A part that fails or takes longer than 2 s is reported as unavailable. */
  report(): Promise<InstallationReport>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly config: ReportedSettings;
  readonly database: Pick<Database, 'ping' | 'awaitsStandby' | 'embedded'>;
  readonly broker: Pick<Broker, 'ping' | 'embedded'>;
  readonly cluster: Pick<Cluster, 'list'>;
  readonly events: Pick<Events, 'lag' | 'setAside' | 'countWaiting'>;
  readonly webhooks: Pick<Webhooks, 'countWaiting'>;
  readonly mails: Pick<Mails, 'setAside'>;
  readonly securityEvents: Pick<SecurityEvents, 'setAside'>;
  readonly payments: Pick<PaymentProcessor, 'setAside' | 'processor'>;
  readonly developers: Pick<Developers, 'directory'>;
  readonly applications: Pick<Applications, 'count'>;
  readonly userDirectory: Pick<UserDirectory, 'count'>;
  readonly signingKeys: Pick<SigningKeys, 'published'>;
  /** The last migration that ran, and how many of this version are missing. */
  readonly migrations: () => Promise<{ readonly latest: string | null; readonly pending: number }>;
  readonly clock: Clock;
  readonly skewMs: () => number;
  readonly logger: Logger;
}

export function createInstallation(deps: Dependencies): Installation {
  const { knex, config, clock, skewMs } = deps;
  const orNull = createOrNull(deps.logger);

  async function databaseState(): Promise<InstallationState['database']> {
    const { database } = deps;
    const [ping, facts, migrations, awaitsStandby] = await Promise.all([
      orNull(database.ping().then(() => true)),
      orNull(findDatabaseFacts(knex)),
      orNull(deps.migrations()),
      orNull(database.awaitsStandby()),
    ]);
    return {
      isOperational: ping !== null,
      embedded: database.embedded,
      version: facts?.version ?? null,
      sizeBytes: facts?.size_bytes ?? null,
      migration: migrations?.latest ?? null,
      pendingMigrations: migrations?.pending ?? null,
      awaitsStandby,
      clockSkewSeconds: skewMs() / 1000,
    };
  }

  async function queueState(): Promise<InstallationState['queues']> {
    const { events, webhooks, mails, securityEvents, payments } = deps;
    const [waiting, lag, aside, deliveries, failedMails, securityEventsSetAside, paymentEventsSetAside] =
      await Promise.all([
        orNull(events.countWaiting()),
        orNull(events.lag()),
        orNull(events.setAside()),
        orNull(webhooks.countWaiting()),
        orNull(mails.setAside()),
        orNull(securityEvents.setAside()),
        orNull(payments.setAside()),
      ]);
    return {
      eventsWaiting: waiting,
      eventsSetAside: aside?.events ?? null,
      brokerEventsWaiting: lag?.brokerEvents ?? null,
      brokerEventsSetAside: aside?.broker ?? null,
      webhookDeliveriesWaiting: deliveries,
      securityEventsSetAside,
      paymentEventsSetAside,
      failedMails,
    };
  }

  return {
    async report() {
      const { broker, cluster, developers, applications, userDirectory, payments, signingKeys } = deps;
      const [nodes, database, brokerPing, queues, developerCount, applicationCount, userCount] =
        await Promise.all([
          orNull(cluster.list()),
          databaseState(),
          orNull(broker.ping().then(() => true)),
          queueState(),
          orNull(developers.directory.count()),
          orNull(applications.count()),
          orNull(userDirectory.count()),
        ]);
      const state: InstallationState = {
        nodes: nodes ?? [],
        database,
        broker: { isOperational: brokerPing !== null, embedded: broker.embedded },
        queues,
      };
      return {
        ...state,
        version: VERSION,
        checkedAt: clock.now(),
        mail: { embedded: config.smtpUrl === undefined },
        files: { embedded: config.filesUrl === undefined },
        paymentProcessor: payments.processor,
        counts: { developers: developerCount, applications: applicationCount, users: userCount },
        signingKeys: signingKeys.published(),
        warnings: [...warningsOfSettings(config), ...warningsOfState(state)],
      };
    },
  };
}

/** @returns the result of looking at a part; null when that fails or takes too long */
function createOrNull(logger: Logger) {
  return async <Result>(looking: Promise<Result>): Promise<Result | null> => {
    const over = new AbortController();
    const tooLong = delay(PART_MS, null, { signal: over.signal, ref: false }).catch(() => null);
    try {
      return await Promise.race([looking, tooLong]);
    } catch (error) {
      logger.debug({ err: error }, 'a part of the installation could not be read');
      return null;
    } finally {
      over.abort();
    }
  };
}
