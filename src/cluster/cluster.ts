import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logger.ts';
import { announceNode, clearLostNodes, countNodes, forgetNode } from './node-store.ts';

const ANNOUNCED_EVERY_MS = 5_000;
/** Two announcements may be lost. */
const ALIVE_FOR_MS = 15_000;
const FORGOTTEN_AFTER_MS = 3_600_000;

export interface Cluster {
  /** Announces this node again and again. @returns stops that, and says goodbye */
  join(): { leave(): Promise<void> };
  /**
   * How many nodes are alive, this one among them: it announces itself when it is not. Fails when the database does.
   */
  nodes(): Promise<number>;
  /** Deletes nodes that ended without a word. @returns how many */
  clearLost(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeId: string;
}

/** The processes that share one database know of each other by it. */
export function createCluster({ knex, pool, clock, logger, nodeId }: Dependencies): Cluster {
  const announce = () => announceNode(pool, { node_id: nodeId, seen_at: clock.now() });

  const count = () => countNodes(pool, nodeId, new Date(clock.now().getTime() - ALIVE_FOR_MS));

  return {
    join() {
      const leaving = new AbortController();
      const announcing = (async () => {
        while (!leaving.signal.aborted) {
          await announce().catch((error: unknown) =>
            logger.debug({ err: error }, 'this node is not announced'),
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
