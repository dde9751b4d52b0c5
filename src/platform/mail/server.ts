import { createTransport } from 'nodemailer';
import { MailRefusedError, MailUnavailableError } from './errors.ts';
import type { MailSender, MailSettings, MailSources } from './mail-sender.ts';
import { toNodemailer } from './nodemailer-options.ts';
import { parseSmtpUrl } from './smtp-address.ts';

const CONNECTIONS = 4;
const RESPONSE_TIMEOUT_MS = 10_000;
/** For a whole mail, in case a server is slow at each step. */
const SEND_TIMEOUT_MS = 60_000;
/** Servers close idle connections sooner or later, and the next mail would lose an attempt. */
const IDLE_MS = 30_000;

/**
 * Sends mails by an SMTP server.
 * @param settings.smtpUrl as in SMTP_URL; its user and password never appear in an error or the log
 * @throws StartupError if the address is not valid
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
    connectionTimeout: RESPONSE_TIMEOUT_MS,
    greetingTimeout: RESPONSE_TIMEOUT_MS,
    socketTimeout: RESPONSE_TIMEOUT_MS,
    dnsTimeout: RESPONSE_TIMEOUT_MS,
    // For a connection that was closed while idle; the caller makes all other retries.
    maxRequeues: 1,
  });

  return {
    embedded: false,

    async send(message, signal) {
      const late = AbortSignal.timeout(SEND_TIMEOUT_MS);
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

/** Commands whose responses can be shown. Responses to others may quote recipients, contents or passwords. */
const HARMLESS = /^(EHLO|HELO|STARTTLS|MAIL FROM)$/;

/**
 * Refusals of the recipient and the content are about the mail. All others are about the configuration, which the
 * operator may fix while the mail waits.
 */
function toMailError(error: unknown): Error {
  const { code = 'no code', command = '', response, responseCode, message } = error as SmtpError;
  const aboutMail = command === 'RCPT TO' || command === 'DATA';
  // 503 and 530 are about the connection and the authentication.
  const isFinal = responseCode !== undefined && responseCode >= 500 && ![503, 530].includes(responseCode);
  if (aboutMail && isFinal) {
    return new MailRefusedError(`The mail server refuses the mail (${responseCode} at ${command})`);
  }
  const isHarmless = response === undefined || HARMLESS.test(command);
  const why = isHarmless ? `: ${response || message}` : ` (${responseCode ?? code} at ${command})`;
  return new MailUnavailableError(`The mail server cannot be used${why}`);
}
