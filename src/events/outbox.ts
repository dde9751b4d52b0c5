import type { Knex } from 'knex';
import type { Logger } from '../platform/logger.ts';
import { isRowFault, reasonOf } from '../platform/row-fault.ts';
import { faultOf } from './event-fault.ts';
import type { NumberedRow } from './event-row.ts';
import { advanceLog, tryHoldPosition } from './event-store.ts';
import * as store from './outbox-store.ts';
import type { OutboxRow } from './outbox-store.ts';
import { toPublished, type PublishedEvent } from './published-event.ts';

/** What must happen exactly once for each event, in the transaction that publishes it. */
export type Consume = (trx: Knex.Transaction, events: readonly PublishedEvent[]) => Promise<void>;

/** What came of giving events their places. */
export interface Numbering {
  /** In their order. */
  readonly published: readonly PublishedEvent[];
  /** Whether there may be others, which should not wait. */
  readonly more: boolean;
}

interface Dependencies {
  readonly knex: Knex;
  readonly logger: Logger;
}

/** So many that even a slow network sets them aside within the time of one transaction. */
const SET_ASIDE_AT_ONCE = 25;

const NOTHING: Numbering = { published: [], more: false };
const AGAIN: Numbering = { published: [], more: true };

/** Some events of a batch cannot be published, as is seen by looking at them. */
class FaultyEventsError extends Error {
  /** Why, by their ids. */
  readonly faults: ReadonlyMap<string, string>;

  constructor(faults: ReadonlyMap<string, string>) {
    super('Some events cannot be published');
    this.faults = faults;
  }
}

/**
 * Gives new events their places. A batch that fails is tried again in halves, whatever the reason: what takes too long for
 * one transaction may not for two. An event that fails by itself, because of what is in it, is set aside.
 */
export function createOutbox({ knex, logger }: Dependencies) {
  let size = Infinity;
  /** Ids of events that cannot even be set aside. */
  const leftOut = new Set<string>();

  async function publishSome(
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

  /** Publishes the first event alone, or sets it aside. */
  async function publishFirst(trx: Knex.Transaction, last: number, consume: Consume): Promise<Numbering> {
    // Not by a condition: another event may become the first one meanwhile, and would be blamed.
    const eventId = await store.firstWaiting(trx, [...leftOut]);
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
  async function setSomeAside(faults: ReadonlyMap<string, string>): Promise<Numbering> {
    const first = [...faults].slice(0, SET_ASIDE_AT_ONCE);
    try {
      return await holding(async (trx) => {
        for (const [eventId, fault] of first) await setAside(trx, eventId, fault);
        return AGAIN;
      });
    } catch (error) {
      // A batch of half as many has no more faulty events than that.
      size = half(first.length);
      throw error;
    }
  }

  /** Works while no other node numbers events. */
  function holding(work: (trx: Knex.Transaction, last: number) => Promise<Numbering>): Promise<Numbering> {
    return knex.transaction(async (trx) => {
      const last = await tryHoldPosition(trx, 'log');
      return last === undefined ? NOTHING : work(trx, last);
    });
  }

  return {
    async number(consume: Consume, limit: number): Promise<Numbering> {
      size = Math.min(size, limit);
      const tried = size;
      try {
        const numbering = await holding((trx, last) =>
          tried === 1 ? publishFirst(trx, last, consume) : publishSome(trx, last, consume, tried),
        );
        size = Math.min(tried * 2, limit);
        return numbering;
      } catch (error) {
        if (error instanceof FaultyEventsError) return setSomeAside(error.faults);
        size = half(tried);
        if (tried > 1 && isRowFault(error)) return AGAIN;
        throw error;
      }
    },
  };
}

const half = (amount: number) => Math.max(1, Math.floor(amount / 2));

/** Any client may have written anything there. */
const shown = (text: string) => text.slice(0, 64);
