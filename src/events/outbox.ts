import type { Knex } from 'knex';
import type { Logger } from '../platform/logger.ts';
import { isRowFault, reasonOf } from '../platform/row-fault.ts';
import { faultOf } from './event-fault.ts';
import * as store from './outbox-store.ts';
import type { OutboxRow } from './outbox-store.ts';
import { advanceLog, tryHoldPosition, type NumberedRow } from './event-store.ts';
import { toPublished, type PublishedEvent } from './published-event.ts';

/** Few, because each takes several statements of one short transaction. */
const ONE_BY_ONE = 50;

/** What must happen exactly once for each event, in the transaction that publishes it. */
export type Consume = (trx: Knex.Transaction, events: readonly PublishedEvent[]) => Promise<void>;

interface Dependencies {
  readonly knex: Knex;
  readonly logger: Logger;
}

/** Something is wrong with one of the events of a batch. */
class FaultyBatch extends Error {}

/**
 * Gives new events their places. Of a batch that fails because of what is in it the first events are looked at one by one: those
 * that cannot be published are set aside, and the others go on.
 */
export function createOutbox({ knex, logger }: Dependencies) {
  function together(consume: Consume, limit: number): Promise<readonly PublishedEvent[]> {
    return knex.transaction(async (trx) => {
      const last = await tryHoldPosition(trx, 'log');
      if (last === undefined) return [];
      const numbered = await store.numberEvents(trx, last, limit);
      if (numbered.length === 0) return [];
      if (numbered.some((row) => faultOf(row) !== undefined)) throw new FaultyBatch();
      const published = numbered.map((row) => toPublished(row as NumberedRow));
      await consume(trx, published);
      await advanceLog(trx, published.at(-1)!.position);
      return published;
    });
  }

  /** @returns undefined when it was published at the position, else why it cannot be */
  async function publishOne(
    trx: Knex.Transaction,
    row: OutboxRow,
    position: number,
    consume: Consume,
  ): Promise<string | undefined> {
    const fault = faultOf(row);
    if (fault !== undefined) return fault;
    try {
      await trx.transaction(async (savepoint) => {
        await store.numberEvent(savepoint, row.event_id, position);
        await consume(savepoint, [toPublished({ ...row, position } as NumberedRow)]);
      });
      return undefined;
    } catch (error) {
      if (!isRowFault(error)) throw error;
      return reasonOf(error);
    }
  }

  function oneByOne(consume: Consume): Promise<readonly PublishedEvent[]> {
    return knex.transaction(async (trx) => {
      const last = await tryHoldPosition(trx, 'log');
      if (last === undefined) return [];
      const published: PublishedEvent[] = [];
      for (const row of await store.firstUnnumbered(trx, ONE_BY_ONE)) {
        const position = last + published.length + 1;
        const fault = await publishOne(trx, row, position, consume);
        if (fault === undefined) published.push(toPublished({ ...row, position } as NumberedRow));
        else await setAside(trx, row, fault);
      }
      if (published.length > 0) await advanceLog(trx, published.at(-1)!.position);
      return published;
    });
  }

  async function setAside(trx: Knex.Transaction, row: OutboxRow, fault: string): Promise<void> {
    await store.setAside(trx, row.event_id, fault);
    const { event_id, app_id, type } = row;
    logger.error(
      { event_id: shown(event_id), app_id: shown(app_id), type: shown(type), fault },
      'an event cannot be published and is set aside',
    );
  }

  return {
    async number(consume: Consume, limit: number): Promise<readonly PublishedEvent[]> {
      try {
        return await together(consume, limit);
      } catch (error) {
        if (!(error instanceof FaultyBatch) && !isRowFault(error)) throw error;
        return oneByOne(consume);
      }
    },
  };
}

/** Any client may have written anything there. */
const shown = (text: string) => text.slice(0, 64);
