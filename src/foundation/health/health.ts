import type { Cluster } from '../cluster/cluster.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Broker } from '../../platform/broker/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { SKEW_LIMIT_MS, type Database } from '../../platform/database/index.ts';

export interface HealthReport {
  readonly checkedAt: Date;
  /** How many nodes are alive. */
  readonly nodes: number;
  /**
   * How far this machine's clock differs from the database's, in seconds, if it is too far; negative when it
   * is behind.
   */
  readonly skewSeconds: number | undefined;
  /** Whether commits wait for a synchronous standby that does not respond. */
  readonly awaitsStandby: boolean;
  /** How many events are set aside because they cannot be published. An operator should look at them. */
  readonly setAside: number;
}

export interface Health {
  /**
   * Checks every part that the service depends on. Calls during a running check share its result.
   * @throws ApiError HEALTH_CHECK_FAILED, which names the part
   */
  check(): Promise<HealthReport>;
}

interface Dependencies {
  readonly database: Pick<Database, 'ping' | 'awaitsStandby'>;
  readonly broker: Pick<Broker, 'ping'>;
  readonly cluster: Pick<Cluster, 'nodes'>;
  readonly events: Pick<Events, 'setAside'>;
  readonly clock: Clock;
  readonly skewMs: () => number;
}

export function createHealth({ database, broker, cluster, events, clock, skewMs }: Dependencies): Health {
  let running: Promise<HealthReport> | undefined;

  async function checkAll(): Promise<HealthReport> {
    const [, , nodes, { events: unpublished, broker: unsent }, awaitsStandby] = await Promise.all([
      operational('database', database.ping()),
      operational('messaging broker', broker.ping()),
      operational('cluster', cluster.nodes()),
      operational('database', events.setAside()),
      operational('database', database.awaitsStandby()),
    ]);
    const skew = skewMs();
    const skewSeconds = Math.abs(skew) > SKEW_LIMIT_MS ? Math.round(skew / 1000) : undefined;
    return { checkedAt: clock.now(), nodes, skewSeconds, awaitsStandby, setAside: unpublished + unsent };
  }

  return {
    check: () => (running ??= checkAll().finally(() => (running = undefined))),
  };
}

async function operational<Result>(part: string, check: Promise<Result>): Promise<Result> {
  try {
    return await check;
  } catch (cause) {
    throw new ApiError('HEALTH_CHECK_FAILED', { detail: `The ${part} is not operational.`, cause });
  }
}
