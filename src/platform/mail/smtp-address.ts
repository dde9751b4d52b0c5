import { StartupError } from '../startup-error.ts';

/** The address of an SMTP server and our credentials. */
export interface SmtpAddress {
  /** TLS from the start; otherwise by STARTTLS if the server offers it. */
  readonly tls: boolean;
  /** Whether mails are sent by TLS only. */
  readonly needsTls: boolean;
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly user: string; readonly pass: string } | undefined;
}

/** The ports of mail submission (RFC 8314). */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 };
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;

/**
 * Reads `smtp://user:password@host:port`.
 * @throws StartupError that says what is wrong without quoting the address
 */
export function parseSmtpUrl(smtpUrl: string): SmtpAddress {
  const url = URL.canParse(smtpUrl) ? new URL(smtpUrl) : undefined;
  const defaultPort = DEFAULT_PORTS[url?.protocol ?? ''];
  if (!url || defaultPort === undefined || url.hostname === '') throw invalid('it has no host');
  const { protocol, pathname, search, hash, port } = url;
  if (`${pathname}${search}${hash}`.length > 1) throw invalid('nothing may follow the port');
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const credentials = credentialsOf(url);
  return {
    tls: protocol === 'smtps:',
    needsTls: credentials !== undefined && !LOOPBACK.test(host),
    host,
    port: port === '' ? defaultPort : Number(port),
    credentials,
  };
}

function credentialsOf({ username, password }: URL): SmtpAddress['credentials'] {
  if (username === '' && password === '') return undefined;
  if (username === '' || password === '') throw invalid('it must have both user and password, or neither');
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    // The error contains the password.
    throw invalid('user and password must be percent-encoded');
  }
}

function invalid(why: string): StartupError {
  return new StartupError(
    `SMTP_URL is not an address of an SMTP server, such as smtps://user:password@host:465: ${why}`,
  );
}
