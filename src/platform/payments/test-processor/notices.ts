import type { IncomingHttpHeaders } from 'node:http';
import type { Knex } from 'knex';
import { PaymentsError } from '../errors.ts';
import { parseStrictJson } from '../../strict-json.ts';
import type { Fact, Notice } from '../facts.ts';
import { newRef, type TestProcessorOptions } from './context.ts';
import * as store from './notice-store.ts';
import { signedHeaders, verifiedId } from './signature.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** What passes between an attempt and the next one; then a notice is given up, 3 days after it was written. */
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
/** Longer than an answer takes: until then nobody else sends the same notice, should this process be gone. */
const HELD_MS = MINUTE;

/** Facts as a notice says them. */
export interface Notices {
  /** Writes a notice, to be sent when the transaction is over. @param type the processor's word for what happened */
  write(trx: Knex.Transaction, type: string, fact: Fact): Promise<void>;
  /** Sends some of what is due. @returns whether there may be more */
  send(signal: AbortSignal): Promise<boolean>;
  read(body: Buffer, headers: IncomingHttpHeaders): Notice | undefined;
}

export function createNotices(options: TestProcessorOptions): Notices {
  const { knex, clock, random, logger, signingSecret, account, notifyUrl } = options;

  /** @returns why it was not taken; undefined when it was */
  async function attempt({ notice_id, body }: store.NoticeRow, signal: AbortSignal): Promise<unknown> {
    try {
      const response = await fetch(notifyUrl(), {
        method: 'POST',
        headers: signedHeaders(signingSecret, notice_id, body, clock.now()),
        body,
        redirect: 'manual',
        signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      });
      await response.body?.cancel();
      return response.ok ? undefined : new Error(`The answer was ${response.status}.`);
    } catch (error) {
      return error;
    }
  }

  async function deliver(notice: store.NoticeRow, signal: AbortSignal): Promise<void> {
    const failure = await attempt(notice, signal);
    if (failure === undefined) return store.deleteNotice(knex, notice.notice_id);
    const delayMs = RETRY_DELAYS_MS[notice.attempts - 1];
    const told = { notice_id: notice.notice_id, attempts: notice.attempts, err: failure };
    if (delayMs === undefined) {
      logger.error(told, 'a notice of the test processor was never taken');
      return store.deleteNotice(knex, notice.notice_id);
    }
    logger.debug(told, 'a notice of the test processor was not taken');
    return store.putOffNotice(knex, notice, new Date(clock.now().getTime() + delayMs));
  }

  return {
    async write(trx, type, fact) {
      const now = clock.now();
      const body = { type, account, livemode: false, created_at: now, facts: [fact] };
      await store.insertNotice(trx, {
        notice_id: newRef(random, 'nt'),
        body: JSON.stringify(body),
        next_attempt_at: now,
        created_at: now,
      });
    },

    async send(signal) {
      const now = clock.now();
      const due = await store.takeDueNotices(knex, now, new Date(now.getTime() + HELD_MS), AT_ONCE);
      await Promise.all(due.map((notice) => deliver(notice, signal)));
      return due.length === AT_ONCE;
    },

    read(body, headers) {
      const noticeId = verifiedId(signingSecret, body, headers, clock.now());
      if (noticeId === undefined) {
        throw new PaymentsError('signature', 'The notice was not signed by the test processor just now.');
      }
      const said = parse(body);
      if (said?.account !== account || said.livemode !== false) {
        throw new PaymentsError('account', 'The notice is about another account.');
      }
      return said.facts.length === 0 ? undefined : { noticeId, type: said.type, facts: said.facts };
    },
  };
}

interface Said {
  readonly type: string;
  readonly account: string;
  readonly livemode: boolean;
  readonly facts: readonly Fact[];
}

const DATES: readonly string[] = ['periodStart', 'periodEnd', 'asOf'];

function withDates(fact: Fact): Fact {
  const members = Object.entries(fact).map(([name, value]) => [
    name,
    DATES.includes(name) && value !== null ? new Date(value as string) : value,
  ]);
  return Object.fromEntries(members) as Fact;
}

/** What was signed is ours, whatever it says: its form needs no check beyond this. */
function parse(body: Buffer): Said | null {
  try {
    const said = parseStrictJson(body) as Said | null;
    return said && { ...said, facts: said.facts.map(withDates) };
  } catch (error) {
    throw new PaymentsError('invalid', 'The notice is not JSON.', { cause: error });
  }
}
