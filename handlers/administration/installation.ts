import type { components } from '../../generated/types.ts';
import type { InstallationReport } from '../../src/access/administration/administration.ts';
import { toSigningKey } from './signing-key.ts';

type Schemas = components['schemas'];

/** The state of the installation as the contract shows it. */
export function toInstallation(report: InstallationReport): Omit<Schemas['InstallationResult'], 'status'> {
  const { counts, mail, files, broker } = report;
  return {
    version: report.version,
    checked_at: report.checkedAt.toISOString(),
    nodes: report.nodes.map(toNode),
    database: toDatabase(report.database),
    broker: { state: stateOf(broker), embedded: broker.embedded },
    mail: { ...mail },
    files: { ...files },
    payment_processor: report.paymentProcessor,
    queues: toQueues(report.queues),
    counts: {
      developers: toCount(counts.developers),
      applications: toCount(counts.applications),
      users: toCount(counts.users),
    },
    signing_keys: report.signingKeys.map(toSigningKey),
    warnings: report.warnings.map(({ code, message }) => ({ code, message })),
  };
}

const stateOf = ({ isOperational }: { readonly isOperational: boolean }): Schemas['PartState'] =>
  isOperational ? 'operational' : 'unavailable';

const toCount = (count: InstallationReport['counts']['users']): Schemas['InstallationCount'] =>
  count ? { ...count } : { count: null, estimated: false };

function toNode(node: InstallationReport['nodes'][number]): Schemas['InstallationNode'] {
  return {
    node_id: node.nodeId,
    state: node.state,
    is_current: node.isCurrent,
    version: node.version,
    started_at: node.startedAt?.toISOString() ?? null,
    last_seen_at: node.seenAt.toISOString(),
  };
}

function toDatabase(database: InstallationReport['database']): Schemas['InstallationDatabase'] {
  return {
    state: stateOf(database),
    embedded: database.embedded,
    version: database.version,
    size_bytes: database.sizeBytes,
    migration: database.migration,
    pending_migrations: database.pendingMigrations,
    awaits_standby: database.awaitsStandby,
    clock_skew_seconds: database.clockSkewSeconds,
  };
}

function toQueues(queues: InstallationReport['queues']): Schemas['InstallationQueues'] {
  return {
    events_waiting: queues.eventsWaiting,
    events_set_aside: queues.eventsSetAside,
    broker_events_waiting: queues.brokerEventsWaiting,
    broker_events_set_aside: queues.brokerEventsSetAside,
    webhook_deliveries_waiting: queues.webhookDeliveriesWaiting,
    security_events_set_aside: queues.securityEventsSetAside,
    payment_events_set_aside: queues.paymentEventsSetAside,
    failed_mails: queues.failedMails,
  };
}
