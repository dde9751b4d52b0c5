import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { announceNode, clearLostNodes, countNodes, forgetNode } from './node-store.ts';

const ANNOUNCED_EVERY_MS = 5_000;
/** Tolerates two lost announcements. */
const ALIVE_FOR_MS = 15_000;
const FORGOTTEN_AFTER_MS = 3_600_000;

export interface Cluster {
  /** Announces this node periodically. @returns `leave`, which stops that and removes the node */
  join(): { leave(): Promise<void> };
  /**
   * Counts the nodes that are alive, including this one, which is announced if necessary. Fails without the
   * database.
   */
  nodes(): Promise<number>;
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
  const announce = () => announceNode(pool, { node_id: nodeId, seen_at: clock.now() });

  const count = () => countNodes(pool, nodeId, new Date(clock.now().getTime() - ALIVE_FOR_MS));

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

    clearLost: () => clearLostNodes(knex, new Date(clock.now().getTime() - FORGOTTEN_AFTER_MS)),
  };
}
