import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { VERSION } from '../../platform/version.ts';
import { announceNode, clearLostNodes, countNodes, forgetNode, listNodes } from './node-store.ts';

const ANNOUNCED_EVERY_MS = 5_000;
/** Tolerates two lost announcements. */
const ALIVE_FOR_MS = 15_000;
const FORGOTTEN_AFTER_MS = 3_600_000;

/** A process of the cluster. */
export interface ClusterNode {
  readonly nodeId: string;
  /** `lost` for one that has not announced itself for a while. */
  readonly state: 'alive' | 'lost';
  /** Whether it is this process. */
  readonly isCurrent: boolean;
  /** Null for an older version. */
  readonly version: string | null;
  readonly startedAt: Date | null;
  readonly seenAt: Date;
}

export interface Cluster {
  /** Announces this node periodically. @returns `leave`, which stops that and removes the node */
  join(): { leave(): Promise<void> };
  /**
   * Counts the nodes that are alive, including this one, which is announced if necessary. Fails without the
   * database.
   */
  nodes(): Promise<number>;
  /** The nodes, including those that ended within the last hour without leaving. */
  list(): Promise<ClusterNode[]>;
  /** Deletes nodes that ended without leaving. @returns how many */
  clearLost(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeId: string;
}

/** The processes that share a database find each other through it. */
export function createCluster({ knex, pool, clock, logger, nodeId }: Dependencies): Cluster {
  const startedAt = clock.now();
  const announce = () =>
    announceNode(pool, {
      node_id: nodeId,
      seen_at: clock.now(),
      version: VERSION,
      started_at: startedAt,
    });
  const aliveSince = () => new Date(clock.now().getTime() - ALIVE_FOR_MS);

  const count = () => countNodes(pool, nodeId, aliveSince());

  return {
    join() {
      const leaving = new AbortController();
      const announcing = (async () => {
        while (!leaving.signal.aborted) {
          await announce().catch((error: unknown) =>
            logger.debug({ err: error }, 'this node could not be announced'),
          );
          await delay(ANNOUNCED_EVERY_MS, undefined, { signal: leaving.signal, ref: false }).catch(() => {});
        }
      })();
      return {
        async leave() {
          leaving.abort();
          await announcing;
          await forgetNode(knex, nodeId).catch(() => {});
        },
      };
    },

    async nodes() {
      const { nodes, announced } = await count();
      if (announced) return nodes;
      await announce();
      return (await count()).nodes;
    },

    async list() {
      const since = aliveSince();
      return (await listNodes(pool)).map((row) => ({
        nodeId: row.node_id,
        state: row.seen_at > since ? 'alive' : 'lost',
        isCurrent: row.node_id === nodeId,
        version: row.version,
        startedAt: row.started_at,
        seenAt: row.seen_at,
      }));
    },

    clearLost: () => clearLostNodes(knex, new Date(clock.now().getTime() - FORGOTTEN_AFTER_MS)),
  };
}
