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

/** As long as mail files. */
export const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const AT_ONCE = 100;

/** Mails that could not be sent, which an operator may have sent again. */
export interface FailedMails {
  /** Keeps a mail. Its content is kept only as long as its link works. @param payload of its job */
  keep(mailId: string, payload: string, error: unknown): Promise<void>;
  count(): Promise<number>;
  /**
   * Sends the mails that an operator has released, erases expired content and deletes old rows. @returns how many rows
   */
  maintain(): Promise<number>;
  /** Reseals them under the current master key. @returns how many it found */
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
  /** The known facts of a mail; few for one that is damaged or from an older version. */
  function describe(mailId: string, payload: string) {
    try {
      const { to, kind = 'unknown', linkEndsAt } = openMessage(keyring, mailId, payload);
      const ends = typeof linkEndsAt === 'string' ? new Date(linkEndsAt) : null;
      // If the expiry is unknown, the mail may contain a link.
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
      const erased = await store.eraseExpired(knex, now);
      const before = new Date(now.getTime() - KEPT_MS);
      return retried + erased + (await store.deleteFailedBefore(knex, before, AT_ONCE));
    },

    reseal: createResealer(knex, keyring, {
      table: 'failed_mails',
      id: 'mail_id',
      column: 'message_sealed',
      context: contextOf,
    }),
  };
}
