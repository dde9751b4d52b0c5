import { createTransport } from 'nodemailer';
import { MailRefusedError, MailUnavailableError } from './errors.ts';
import type { MailSender, MailSettings, MailSources } from './mail-sender.ts';
import { toNodemailer } from './nodemailer-options.ts';
import { parseSmtpUrl } from './smtp-address.ts';

const CONNECTIONS = 4;
const ANSWER_WITHIN_MS = 10_000;
/** For a whole mail, also where a server lets each answer trickle in. */
const SEND_WITHIN_MS = 60_000;
/** Servers end silent connections sooner or later, which would cost the next mail an attempt. */
const IDLE_MS = 30_000;

/**
 * Mails by an SMTP server.
 * @param settings.smtpUrl as in SMTP_URL; its user and password never get into an error or the log
 * @throws StartupError when the address is not one
 */
export function openServerMail(
  { smtpUrl, from }: { readonly smtpUrl: string; readonly from: MailSettings['from'] },
  { clock }: Pick<MailSources, 'clock'>,
): MailSender {
  const { tls, needsTls, host, port, credentials } = parseSmtpUrl(smtpUrl);
  const transport = createTransport({
    pool: true,
    host,
    port,
    secure: tls,
    requireTLS: needsTls && !tls,
    ...(credentials && { auth: credentials }),
    maxConnections: CONNECTIONS,
    idleTimeout: IDLE_MS,
    connectionTimeout: ANSWER_WITHIN_MS,
    greetingTimeout: ANSWER_WITHIN_MS,
    socketTimeout: ANSWER_WITHIN_MS,
    dnsTimeout: ANSWER_WITHIN_MS,
    // A connection that ended while it was idle; whoever sends tries again later by himself.
    maxRequeues: 1,
  });

  return {
    embedded: false,

    async send(message, signal) {
      const late = AbortSignal.timeout(SEND_WITHIN_MS);
      try {
        await transport.sendMail({
          ...toNodemailer(message, from(), clock.now()),
          signal: signal ? AbortSignal.any([signal, late]) : late,
        });
      } catch (error) {
        throw toMailError(error);
      }
    },

    async close() {
      transport.close({ force: true });
    },
  };
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/** What is said in answer to these can be shown. Servers quote what they dislike: recipients, contents, passwords. */
const HARMLESS = /^(EHLO|HELO|STARTTLS|MAIL FROM)$/;

/**
 * What the server says of the recipient and the content is about the mail; all else is about us, and may be put right while
 * the mail waits.
 */
function toMailError(error: unknown): Error {
  const { code = 'no code', command = '', response, responseCode, message } = error as SmtpError;
  const aboutMail = command === 'RCPT TO' || command === 'DATA';
  // 503 and 530 are about the connection, and about who we are.
  const isFinal = responseCode !== undefined && responseCode >= 500 && ![503, 530].includes(responseCode);
  if (aboutMail && isFinal) {
    return new MailRefusedError(`The mail server refuses the mail (${responseCode} at ${command})`);
  }
  const isHarmless = response === undefined || HARMLESS.test(command);
  const why = isHarmless ? `: ${response || message}` : ` (${responseCode ?? code} at ${command})`;
  return new MailUnavailableError(`The mail server cannot be used${why}`);
}
