import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import { parseStrictJson } from '../../strict-json.ts';
import { PaymentsError } from '../errors.ts';
import type { PaymentEvent } from '../payment-event.ts';
import type { PaymentFact } from '../payment-fact.ts';
import * as store from './event-store.ts';
import type { TestProcessorOptions } from './options.ts';
import { newRef } from './reference.ts';
import { signedHeaders, verifiedId } from './signature.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What passes between an attempt and the next one; then an event is given up, 3 days after it was written. */
const RETRY_DELAYS_MS = [
  2 * SECOND,
  15 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  20 * HOUR,
] as const;
const AT_ONCE = 10;
const ANSWER_WITHIN_MS = 15 * SECOND;
/** Longer than an answer takes: until then nobody else sends the same event, should this process be gone. */
const HELD_MS = MINUTE;

/** Facts as an event says them. */
export interface ProcessorEvents {
  /** Writes an event, to be sent when the transaction is over. @param type the processor's word for what happened */
  write(trx: Knex.Transaction, type: string, fact: PaymentFact): Promise<void>;
  /** Sends some of what is due. @returns whether there may be more */
  send(signal: AbortSignal): Promise<boolean>;
  read(body: Buffer, headers: IncomingHttpHeaders): PaymentEvent | undefined;
}

export function createProcessorEvents(options: TestProcessorOptions): ProcessorEvents {
  const { knex, clock, random, logger, signingSecret, account, notifyUrl } = options;

  /** @returns why it was not taken; undefined when it was */
  async function attempt({ notice_id, body }: store.EventRow, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await fetch(notifyUrl(), {
        method: 'POST',
        headers: signedHeaders(signingSecret, notice_id, body, clock.now()),
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      });
      await response.body?.cancel();
      return response.ok ? undefined : new Error(`The response status was ${response.status}.`);
    } catch (error) {
      return error;
    }
  }

  async function deliver(event: store.EventRow, signal: AbortSignal): Promise<void> {
    const failure = await attempt(event, signal);
    if (failure === undefined) return store.deleteEvent(knex, event.notice_id);
    const delayMs = RETRY_DELAYS_MS[event.attempts - 1];
    const told = { notice_id: event.notice_id, attempts: event.attempts, err: failure };
    if (delayMs === undefined) {
      logger.error(told, 'an event of the test processor was never taken');
      return store.deleteEvent(knex, event.notice_id);
    }
    logger.debug(told, 'an event of the test processor was not taken');
    return store.postponeEvent(knex, event, new Date(clock.now().getTime() + delayMs));
  }

  return {
    async write(trx, type, fact) {
      const now = clock.now();
      const body = { type, account, livemode: false, created_at: now, facts: [fact] };
      await store.insertEvent(trx, {
        notice_id: newRef(random, 'nt'),
        body: JSON.stringify(body),
        next_attempt_at: now,
        created_at: now,
      });
    },

    async send(signal) {
      const now = clock.now();
      const due = await store.takeDueEvents(knex, now, new Date(now.getTime() + HELD_MS), AT_ONCE);
      await Promise.all(due.map((event) => deliver(event, signal)));
      return due.length === AT_ONCE;
    },

    read(body, headers) {
      const eventId = verifiedId(signingSecret, body, headers, clock.now());
      if (eventId === undefined) {
        throw new PaymentsError('signature', 'The event was not signed by the test processor just now.');
      }
      const said = parse(body);
      if (said?.account !== account || said.livemode !== false) {
        throw new PaymentsError('account', 'The event is about another account.');
      }
      return said.facts.length === 0 ? undefined : { eventId, type: said.type, facts: said.facts };
    },
  };
}

interface Said {
  readonly type: string;
  readonly account: string;
  readonly livemode: boolean;
  readonly facts: readonly PaymentFact[];
}

const DATES: readonly string[] = ['periodStart', 'periodEnd', 'asOf'];

function withDates(fact: PaymentFact): PaymentFact {
  const members = Object.entries(fact).map(([name, value]) => [
    name,
    DATES.includes(name) && value !== null ? new Date(value as string) : value,
  ]);
  return Object.fromEntries(members) as PaymentFact;
}

/** What was signed is ours, whatever it says: its form needs no check beyond this. */
function parse(body: Buffer): Said | null {
  try {
    const said = parseStrictJson(body) as Said | null;
    return said && { ...said, facts: said.facts.map(withDates) };
  } catch (error) {
    throw new PaymentsError('invalid', 'The event is not JSON.', { cause: error });
  }
}
