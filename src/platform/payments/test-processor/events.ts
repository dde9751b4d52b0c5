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

/** The delays between attempts. After the last attempt, 3 days after it was written, an event is dropped. */
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
const BATCH_SIZE = 10;
const RESPONSE_TIMEOUT_MS = 15 * SECOND;
/** Longer than the response timeout: if this process dies, another one sends the event after this time. */
const HELD_MS = MINUTE;

/** Writes, sends and reads events with facts. */
export interface ProcessorEvents {
  /** Writes an event, which is sent after the commit. @param type the processor's name for what happened */
  write(trx: Knex.Transaction, type: string, fact: PaymentFact): Promise<void>;
  /** Sends some due events. @returns whether there may be more */
  send(signal: AbortSignal): Promise<boolean>;
  read(body: Buffer, headers: IncomingHttpHeaders): PaymentEvent | undefined;
}

export function createProcessorEvents(options: TestProcessorOptions): ProcessorEvents {
  const { knex, clock, random, logger, signingSecret, account, notifyUrl } = options;

  /** @returns why the webhook did not accept the event; undefined if it did */
  async function attempt({ notice_id, body }: store.EventRow, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await fetch(notifyUrl(), {
        method: 'POST',
        headers: signedHeaders(signingSecret, notice_id, body, clock.now()),
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)]),
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
    const details = { notice_id: event.notice_id, attempts: event.attempts, err: failure };
    if (delayMs === undefined) {
      logger.error(details, 'an event of the test processor was never accepted');
      return store.deleteEvent(knex, event.notice_id);
    }
    logger.debug(details, 'an event of the test processor was not accepted');
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
      const due = await store.takeDueEvents(knex, now, new Date(now.getTime() + HELD_MS), BATCH_SIZE);
      await Promise.all(due.map((event) => deliver(event, signal)));
      return due.length === BATCH_SIZE;
    },

    read(body, headers) {
      const eventId = verifiedId(signingSecret, body, headers, clock.now());
      if (eventId === undefined) {
        throw new PaymentsError(
          'signature',
          'The event was not signed by the test processor within the last 5 minutes.',
        );
      }
      const message = parse(body);
      if (message?.account !== account || message.livemode !== false) {
        throw new PaymentsError('account', 'The event is about another account.');
      }
      return message.facts.length === 0 ? undefined : { eventId, type: message.type, facts: message.facts };
    },
  };
}

interface Message {
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

/** The body is signed and therefore written by this service: its members need no further check. */
function parse(body: Buffer): Message | null {
  try {
    const message = parseStrictJson(body) as Message | null;
    return message && { ...message, facts: message.facts.map(withDates) };
  } catch (error) {
    throw new PaymentsError('invalid', 'The event is not JSON.', { cause: error });
  }
}
