import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Clock } from '../../platform/clock.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import { reasonOf } from '../../platform/row-fault.ts';
import * as store from './failed-mail-store.ts';
import { contextOf, openMessage } from './sealed-message.ts';

/** As long as mails that are files. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const AT_ONCE = 100;

/** Mails that could not be sent, for an operator who may have them sent again. */
export interface FailedMails {
  /** Keeps a mail. What is in it is kept only as long as the link in it works. @param payload of its job */
  keep(mailId: string, payload: string, error: unknown): Promise<void>;
  count(): Promise<number>;
  /** Sends some again that an operator wants sent, forgets what has ended and deletes what is old. @returns how many rows */
  maintain(): Promise<number>;
  /** Seals them anew under the current master key. @returns how many it found */
  reseal(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly jobs: Pick<Jobs, 'send'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function createFailedMails({ knex, jobs, keyring, clock, logger }: Dependencies): FailedMails {
  /** What can be said of a mail; of one that was damaged, or is from an older version, next to nothing. */
  function describe(mailId: string, payload: string) {
    try {
      const { to, kind = 'unknown', linkEndsAt } = openMessage(keyring, mailId, payload);
      const ends = typeof linkEndsAt === 'string' ? new Date(linkEndsAt) : null;
      // Without a word about it, there may be a link in it.
      const isUseful = linkEndsAt !== undefined && (ends === null || ends > clock.now());
      return {
        kind,
        recipient_digest: hash('sha256', to.toLowerCase(), 'buffer'),
        message_sealed: isUseful ? Buffer.from(payload, 'base64') : null,
        link_ends_at: ends,
      };
    } catch {
      return { kind: 'unknown', recipient_digest: null, message_sealed: null, link_ends_at: null };
    }
  }

  return {
    async keep(mailId, payload, error) {
      const described = describe(mailId, payload);
      await store.insertFailedMail(knex, {
        mail_id: mailId,
        ...described,
        error: reasonOf(error),
        failed_at: clock.now(),
      });
      const { kind } = described;
      logger.error({ mail_id: mailId, kind, err: error }, 'a mail cannot be sent and is set aside');
    },

    count: () => store.countFailedMails(knex),

    async maintain() {
      const now = clock.now();
      const retried = await knex.transaction(async (trx) => {
        const rows = await store.takeRetried(trx, now, AT_ONCE);
        if (rows.length === 0) return 0;
        const requests = rows.map(({ mail_id, message_sealed }) => ({
          key: mail_id,
          slow: false,
          payload: message_sealed.toString('base64'),
        }));
        if (!(await jobs.send(trx, 'mails', requests))) throw new Error('mails are not started yet');
        return rows.length;
      });
      const forgotten = await store.forgetEnded(knex, now);
      const before = new Date(now.getTime() - KEPT_MS);
      return retried + forgotten + (await store.deleteFailedBefore(knex, before, AT_ONCE));
    },

    reseal: createResealer(knex, keyring, {
      table: 'failed_mails',
      id: 'mail_id',
      column: 'message_sealed',
      context: contextOf,
    }),
  };
}
