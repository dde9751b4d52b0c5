import type { Cluster } from '../cluster/cluster.ts';
import { ApiError } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Broker } from '../platform/broker/index.ts';
import type { Clock } from '../platform/clock.ts';
import { SKEW_LIMIT_MS, type Database } from '../platform/database/index.ts';

export interface HealthReport {
  readonly checkedAt: Date;
  /** How many nodes are alive. */
  readonly nodes: number;
  /** How far this machine's clock is ahead of the database's, in seconds, when that is too far; negative when it is behind. */
  readonly skewSeconds: number | undefined;
  /** Whether commits wait for a synchronous standby that does not answer. */
  readonly awaitsStandby: boolean;
  /** How many events are set aside because they cannot be published: an operator should look at them. */
  readonly setAside: number;
}

export interface Health {
  /**
   * Asks every part that the service cannot work without. Whoever asks while others are waiting for an answer gets theirs.
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
  let underWay: Promise<HealthReport> | undefined;

  async function ask(): Promise<HealthReport> {
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
    check: () => (underWay ??= ask().finally(() => (underWay = undefined))),
  };
}

async function operational<Result>(part: string, answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (cause) {
    throw new ApiError('HEALTH_CHECK_FAILED', { detail: `The ${part} is not operational.`, cause });
  }
}
