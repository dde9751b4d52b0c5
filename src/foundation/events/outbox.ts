import type { Knex } from 'knex';
import type { Logger } from '../../platform/logger.ts';
import { isRowFault, reasonOf } from '../../platform/row-fault.ts';
import { faultOf } from './event-fault.ts';
import type { NumberedRow } from './event-row.ts';
import { advanceLog, tryLockPosition } from './event-store.ts';
import * as store from './outbox-store.ts';
import type { OutboxRow } from './outbox-store.ts';
import { toPublished, type PublishedEvent } from './published-event.ts';

/** Work that must happen exactly once for each event, in the transaction that publishes it. */
export type Consume = (trx: Knex.Transaction, events: readonly PublishedEvent[]) => Promise<void>;

/** The result of assigning positions to events. */
export interface Numbering {
  /** In order. */
  readonly published: readonly PublishedEvent[];
  /** Whether more events may be waiting, so that the caller should continue immediately. */
  readonly more: boolean;
}

interface Dependencies {
  readonly knex: Knex;
  readonly logger: Logger;
}

/** Few enough to be set aside within the timeout of one transaction, even over a slow network. */
const SET_ASIDE_AT_ONCE = 25;

const NOTHING: Numbering = { published: [], more: false };
const AGAIN: Numbering = { published: [], more: true };

/** Some rows of a batch are visibly faulty and cannot be published. */
class FaultyEventsError extends Error {
  /** The faults by event id. */
  readonly faults: ReadonlyMap<string, string>;

  constructor(faults: ReadonlyMap<string, string>) {
    super('Some events cannot be published');
    this.faults = faults;
  }
}

/**
 * Assigns positions to new events. A batch that fails for any reason is retried in halves, because two
 * transactions may succeed where one takes too long. An event that fails on its own because of its content is
 * set aside.
 */
export function createOutbox({ knex, logger }: Dependencies) {
  let size = Infinity;
  /** Ids of events that cannot even be set aside. */
  const leftOut = new Set<string>();

  async function publishBatch(
    trx: Knex.Transaction,
    last: number,
    consume: Consume,
    limit: number,
  ): Promise<Numbering> {
    const numbered = await store.numberEvents(trx, last, [...leftOut], limit);
    if (numbered.length === 0) return NOTHING;
    return { published: await publish(trx, numbered, consume), more: numbered.length === limit };
  }

  async function publish(trx: Knex.Transaction, numbered: readonly OutboxRow[], consume: Consume) {
    const faults = new Map(
      numbered.flatMap((row) => {
        const fault = faultOf(row);
        return fault === undefined ? [] : [[row.event_id, fault] as const];
      }),
    );
    if (faults.size > 0) throw new FaultyEventsError(faults);
    const published = numbered.map((row) => toPublished(row as NumberedRow));
    await consume(trx, published);
    await advanceLog(trx, published.at(-1)!.position);
    return published;
  }

  /** Publishes only the first event, or sets it aside. */
  async function publishOne(trx: Knex.Transaction, last: number, consume: Consume): Promise<Numbering> {
    // The id is read first, because a different event may become the first one meanwhile and be set aside by
    // mistake.
    const eventId = await store.findFirstWaiting(trx, [...leftOut]);
    if (eventId === undefined) return NOTHING;
    try {
      const published = await trx.transaction(async (savepoint) =>
        publish(savepoint, await store.numberEvent(savepoint, eventId, last + 1), consume),
      );
      return { published, more: true };
    } catch (error) {
      if (!isRowFault(error)) throw error;
      await setAside(trx, eventId, reasonOf(error));
      return AGAIN;
    }
  }

  async function setAside(trx: Knex.Transaction, eventId: string, fault: string): Promise<void> {
    const event_id = shown(eventId);
    try {
      const row = await trx.transaction((savepoint) => store.setAside(savepoint, eventId, fault));
      if (!row) return;
      const { app_id, type } = row;
      logger.error(
        { event_id, app_id: shown(app_id), type: shown(type), fault },
        'an event cannot be published and is set aside',
      );
    } catch (error) {
      if (!isRowFault(error)) throw error;
      leftOut.add(eventId);
      logger.error(
        { event_id, fault, err: error },
        'an event can be neither published nor set aside and is left out until the next start',
      );
    }
  }

  /** Sets the first of some faulty events aside. */
  async function setFaultyAside(faults: ReadonlyMap<string, string>): Promise<Numbering> {
    const first = [...faults].slice(0, SET_ASIDE_AT_ONCE);
    try {
      return await withPosition(async (trx) => {
        for (const [eventId, fault] of first) await setAside(trx, eventId, fault);
        return AGAIN;
      });
    } catch (error) {
      // A batch of half that size contains no more faulty events than can be set aside.
      size = half(first.length);
      throw error;
    }
  }

  /** Runs work while no other node assigns positions. */
  function withPosition(
    work: (trx: Knex.Transaction, last: number) => Promise<Numbering>,
  ): Promise<Numbering> {
    return knex.transaction(async (trx) => {
      const last = await tryLockPosition(trx, 'log');
      return last === undefined ? NOTHING : work(trx, last);
    });
  }

  return {
    async number(consume: Consume, limit: number): Promise<Numbering> {
      size = Math.min(size, limit);
      const tried = size;
      try {
        const numbering = await withPosition((trx, last) =>
          tried === 1 ? publishOne(trx, last, consume) : publishBatch(trx, last, consume, tried),
        );
        size = Math.min(tried * 2, limit);
        return numbering;
      } catch (error) {
        if (error instanceof FaultyEventsError) return setFaultyAside(error.faults);
        size = half(tried);
        if (tried > 1 && isRowFault(error)) return AGAIN;
        throw error;
      }
    },
  };
}

const half = (amount: number) => Math.max(1, Math.floor(amount / 2));

/** Truncated for the log, because any database client may have written it. */
const shown = (text: string) => text.slice(0, 64);
