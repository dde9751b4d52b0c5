import type { Knex } from 'knex';
import type { Limits } from '../limits/limits.ts';
import { addressBlock, type Client } from '../platform/address.ts';
import type { Clock } from '../platform/clock.ts';
import type { NewId } from '../platform/ids.ts';
import type { Jobs } from '../platform/jobs/index.ts';
import type { Keyring } from '../platform/keyring.ts';
import type { Logger } from '../platform/logger.ts';
import { checkMessage, MailRefusedError, type Mail, type MailMessage } from '../platform/mail/index.ts';

/** As many as the connections that there are to a mail server. */
const MAILS_AT_ONCE = 4;
/** How long mails are kept that are files: there are links in them that let people in. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const CLEARED_AT_ONCE = 100;

const HOUR_S = 60 * 60;
/** Mails that one client causes. */
const FROM_ONE = { requests: 100, seconds: HOUR_S };
/** Mails to one mailbox that nobody there has asked for: whoever does not want them should not get more. */
const TO_ONE = {
  'agent-claim': { requests: 10, seconds: HOUR_S },
  'password-reset': { requests: 5, seconds: HOUR_S },
};

/** Mails to people, sent behind the request that causes them. */
export interface Mails {
  /**
   * Counts a mail that anybody may cause, before the transaction that sends it. Those of each kind count for themselves.
   * @throws ApiError TOO_MANY_REQUESTS
   */
  assertMaySend(kind: keyof typeof TO_ONE, to: string, client: Client): Promise<void>;
  /**
   * Sends a mail if and only if the transaction commits: at least once, by whichever node takes it. A mail that cannot be
   * sent now is tried again for a day.
   * @throws MailRefusedError when its recipient is no address, or its subject not one line
   */
  enqueue(trx: Knex.Transaction, message: Omit<MailMessage, 'id'>): Promise<void>;
  /**
   * Begins to send. Nothing can be enqueued before.
   * @returns stops: what is under way gets 3 s to end, the rest is left to other nodes and the next start
   */
  start(): Promise<{ stop(): Promise<void> }>;
  /** Seals mails that wait anew under the current master key. @returns how many it found */
  reseal(): Promise<number>;
  /** Deletes some mails that are files of 30 days ago. @returns how many */
  clearOld(): Promise<number>;
}

interface Dependencies {
  readonly jobs: Jobs;
  readonly mail: Mail;
  readonly limits: Pick<Limits, 'take'>;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly logger: Logger;
}

export function createMails(deps: Dependencies): Mails {
  const { jobs, mail, limits, keyring, clock, newId, logger } = deps;
  return {
    async assertMaySend(kind, to, client) {
      const what = 'mails within an hour';
      // Whoever may send none does not use up what others may.
      await limits.take(`${kind}-mails-from`, [addressBlock(client.address)], FROM_ONE, what);
      const mailbox = mailboxOf(to);
      // Or with addresses that nobody has an account by, anybody would use up the links of whoever has one.
      const isOther = kind === 'password-reset' && mailbox !== to.toLowerCase();
      await limits.take(`${kind}-mails-to`, [mailbox, ...(isOther ? ['+'] : [])], TO_ONE[kind], what);
    },

    async enqueue(trx, { to, subject, text, html }) {
      const message: MailMessage = { to, subject, text, ...(html !== undefined && { html }) };
      checkMessage(message);
      const id = newId('mail');
      const payload = keyring.seal(Buffer.from(JSON.stringify(message)), contextOf(id)).toString('base64');
      const asked = await jobs.send(trx, 'mails', [{ key: id, slow: false, payload }]);
      if (!asked) throw new Error('mails are enqueued before they are started');
    },

    start: () =>
      jobs.start('mails', MAILS_AT_ONCE, async (id, signal, payload) => {
        const sealed = Buffer.from(payload, 'base64');
        const message = JSON.parse(keyring.open(sealed, contextOf(id)).toString()) as MailMessage;
        try {
          await mail.send({ ...message, id }, signal);
        } catch (error) {
          if (!(error instanceof MailRefusedError)) throw error;
          logger.error({ err: error, mail_id: id }, 'a mail was refused and is not sent again');
        }
      }),

    reseal: jobs.createResealer('mails', keyring, contextOf),

    clearOld: () => mail.clear(new Date(clock.now().getTime() - KEPT_MS), CLEARED_AT_ONCE),
  };
}

/** Many servers put what is behind a plus into one mailbox: whoever counts addresses would flood it. */
function mailboxOf(email: string): string {
  const [at, plus] = [email.lastIndexOf('@'), email.indexOf('+', 1)];
  const mailbox = plus === -1 || plus > at ? email : email.slice(0, plus) + email.slice(at);
  return mailbox.toLowerCase();
}

/** A mail is opened as the one that it was sealed as: a row that was copied over another one is not sent. */
function contextOf(id: string): string {
  return `mail:${id}`;
}
