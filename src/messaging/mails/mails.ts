import type { Knex } from 'knex';
import type { Limits } from '../../foundation/limits/limits.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import type { Clock } from '../../platform/clock.ts';
import type { NewId } from '../../platform/ids.ts';
import type { Jobs } from '../../platform/jobs/index.ts';
import type { Keyring } from '../../platform/keyring.ts';
import type { Logger } from '../../platform/logger.ts';
import { checkMessage, MailRefusedError, type Mail, type MailMessage } from '../../platform/mail/index.ts';
import { createFailedMails, KEPT_MS } from './failed-mails.ts';
import { contextOf, openMessage, sealMessage, type MailKind } from './sealed-message.ts';

/** As many as connections to a mail server. */
const MAILS_AT_ONCE = 4;
const CLEARED_AT_ONCE = 100;

const HOUR_S = 60 * 60;
/** Mails that one client causes. */
const FROM_ONE = { requests: 100, seconds: HOUR_S };
/** Mails to a mailbox whose owner may not have requested them, limited so that no one can flood it. */
const TO_ONE = {
  'agent-claim': { requests: 10, seconds: HOUR_S },
  'password-reset': { requests: 5, seconds: HOUR_S },
};

/** Mails to people, sent after the request that causes them. */
export interface Mails {
  /**
   * Counts a mail that anyone may cause, before the transaction that sends it. Each kind is counted separately.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertMaySend(kind: keyof typeof TO_ONE, to: string, client: Client): Promise<void>;
  /**
   * Sends a mail if and only if the transaction commits, at least once, from any node. A mail that cannot be sent now
   * is retried for a day, and then set aside.
   * @throws MailRefusedError when its recipient is not an address, or its subject is not one line
   */
  enqueue(trx: Knex.Transaction, message: NewMail): Promise<void>;
  /**
   * Starts to send. Nothing can be enqueued before.
   * @returns stops: mails in progress get 3 s to end, the rest is left to other nodes and the next start
   */
  start(): Promise<{ stop(): Promise<void> }>;
  /** Reseals waiting mails under the current master key. @returns how many it found */
  reseal(): Promise<number>;
  /** Deletes one batch of mail files that are 30 days old. @returns how many */
  clearOld(): Promise<number>;
  /** How many mails are set aside because they could not be sent. */
  setAside(): Promise<number>;
  /** Sends failed mails that an operator has released, and deletes old ones. @returns how many */
  maintainFailed(): Promise<number>;
  /** Reseals failed mails under the current master key. @returns how many it found */
  resealFailed(): Promise<number>;
}

/** A mail to send. */
export interface NewMail extends Omit<MailMessage, 'id'> {
  readonly kind: MailKind;
  /**
   * When the link in it expires, which is how long its content is kept. Null for a mail without a link that grants
   * access.
   */
  readonly linkEndsAt: Date | null;
}

interface Dependencies {
  readonly knex: Knex;
  readonly jobs: Jobs;
  readonly mail: Mail;
  readonly limits: Pick<Limits, 'take'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

export function createMails(deps: Dependencies): Mails {
  const { jobs, mail, limits, keyring, clock, newId } = deps;
  const failed = createFailedMails(deps);
  return {
    async assertMaySend(kind, to, client) {
      const what = 'mails within an hour';
      // Checked first, so that a client over its limit does not use up that of the recipient.
      await limits.take(`${kind}-mails-from`, [addressBlock(client.address)], FROM_ONE, what);
      const mailbox = mailboxOf(to);
      // Addresses with a tag have their own count: otherwise mails to them could use up the limit of the account's
      // address.
      const isOther = kind === 'password-reset' && mailbox !== to.toLowerCase();
      await limits.take(`${kind}-mails-to`, [mailbox, ...(isOther ? ['+'] : [])], TO_ONE[kind], what);
    },

    async enqueue(trx, { to, subject, text, html, kind, linkEndsAt }) {
      const message: MailMessage = { to, subject, text, ...(html !== undefined && { html }) };
      checkMessage(message);
      const id = newId('mail');
      const about = { kind, linkEndsAt: linkEndsAt?.toISOString() ?? null };
      const payload = sealMessage(keyring, id, { ...message, ...about });
      const isQueued = await jobs.send(trx, 'mails', [{ key: id, slow: false, payload }]);
      if (!isQueued) throw new Error('mails are enqueued before they are started');
    },

    start: () =>
      jobs.start(
        'mails',
        MAILS_AT_ONCE,
        async (id, signal, payload) => {
          const { to, subject, text, html } = openMessage(keyring, id, payload);
          try {
            await mail.send({ to, subject, text, ...(html !== undefined && { html }), id }, signal);
          } catch (error) {
            if (!(error instanceof MailRefusedError)) throw error;
            await failed.keep(id, payload, error);
          }
        },
        failed.keep,
      ),

    reseal: jobs.createResealer('mails', keyring, contextOf),

    clearOld: () => mail.clear(new Date(clock.now().getTime() - KEPT_MS), CLEARED_AT_ONCE),

    setAside: failed.count,
    maintainFailed: failed.maintain,
    resealFailed: failed.reseal,
  };
}

/** Many servers deliver addresses with a tag (`+…`) to one mailbox, which could otherwise be flooded. */
function mailboxOf(email: string): string {
  const [at, plus] = [email.lastIndexOf('@'), email.indexOf('+', 1)];
  const mailbox = plus === -1 || plus > at ? email : email.slice(0, plus) + email.slice(at);
  return mailbox.toLowerCase();
}
