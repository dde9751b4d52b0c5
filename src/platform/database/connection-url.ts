import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import type pg from 'pg';
import { StartupError } from '../startup-error.ts';

/** Adds a parameter to the options of pg, or throws what is wrong with its value. */
type Reader = (value: string, config: Config, tls: ConnectionOptions) => void;

type Config = pg.ClientConfig;

const HONORED: Readonly<Record<string, Reader>> = {
  host: (value, config) => (config.host = one(value)),
  port: (value, config) => (config.port = Number(matching(one(value), /^\d{1,5}$/))),
  dbname: (value, config) => (config.database = value),
  user: (value, config) => (config.user = value),
  password: (value, config) => (config.password = value),
  application_name: (value, config) => (config.application_name = value),
  fallback_application_name: (value, config) => (config.application_name ??= value),
  // The settings that the service relies on are set later, on every connection.
  options: (value, config) => (config.options = value),
  client_encoding: (value) => void oneOf(value.toLowerCase(), ['utf8', 'utf-8', 'auto']),
  connect_timeout: (value) => void matching(value, /^\d{1,6}$/),
  keepalives: (value, config) => (config.keepAlive = oneOf(value, ['0', '1']) === '1'),
  keepalives_idle: (value, config) =>
    (config.keepAliveInitialDelayMillis = Number(matching(value, /^\d{1,5}$/)) * 1000),
  // Every session is checked for write access.
  target_session_attrs: (value) => void oneOf(value, ['any', 'read-write', 'primary']),
  load_balance_hosts: (value) => void oneOf(value, ['disable']),
  gssencmode: (value) => void oneOf(value, ['disable', 'prefer']),
  channel_binding: (value, config) => {
    // pg uses channel binding if the server offers it, and cannot require it.
    if (value === 'require')
      throw new Error(
        'cannot be require: set it to prefer, which uses channel binding if the server supports it',
      );
    config.enableChannelBinding = oneOf(value, ['disable', 'prefer']) === 'prefer';
  },
  // `tlsOf` combines these parameters.
  ssl: (value) => void oneOf(value, ['true', '1', 'false', '0']),
  sslmode: (value) => void oneOf(value, ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify']),
  sslnegotiation: (value, config) =>
    (config.sslnegotiation = oneOf(value, ['postgres', 'direct']) as 'postgres' | 'direct'),
  sslrootcert: (value, _config, tls) => {
    if (value !== 'system') tls.ca = contentOf(value);
  },
  sslcert: (value, _config, tls) => (tls.cert = contentOf(value)),
  sslkey: (value, _config, tls) => (tls.key = contentOf(value)),
  sslpassword: (value, _config, tls) => (tls.passphrase = value),
  sslcrl: (value, _config, tls) => (tls.crl = contentOf(value)),
  sslsni: (value) => void oneOf(value, ['1']),
  sslcompression: (value) => void oneOf(value, ['0']),
  ssl_min_protocol_version: (value, _config, tls) => (tls.minVersion = tlsVersion(value)),
  ssl_max_protocol_version: (value, _config, tls) => (tls.maxVersion = tlsVersion(value)),
};

/**
 * Parses a connection URI of PostgreSQL, in the form of libpq. Every parameter is applied or refused by name, because
 * pg ignores unknown parameters and lets the URI override its other options.
 *
 * @param setting the name of the setting that contains it, for errors
 * @returns the options of pg; pg parses no part of the URI itself
 * @throws StartupError one line without the password
 */
export function parseConnectionUrl(setting: string, text: string): pg.ClientConfig {
  if (!/^postgres(ql)?:\/\//.test(text)) throw invalid(setting);
  const authority = /^\w+:\/\/([^/?#]*)/.exec(text)![1]!.replace(/^.*@/s, '');
  if (authority.includes(',')) throw severalHosts(setting);
  // A URL with a user requires a host; a URI of libpq does not.
  const url = URL.parse(authority === '' ? text.replace(/^\w+:\/\/[^/?#]*/, '$&base') : text);
  if (!url) throw invalid(setting);
  if (holdsPasswordElsewhere(url, authority)) throw invalid(setting);
  const config: Config = {};
  const tls: ConnectionOptions = {};
  try {
    const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
    if (host && host !== 'base') config.host = host;
    if (url.port) config.port = Number(url.port);
    if (url.username) config.user = decodeURIComponent(url.username);
    if (url.password) config.password = decodeURIComponent(url.password);
    if (url.pathname.length > 1) config.database = decodeURIComponent(url.pathname.slice(1));
  } catch {
    throw invalid(setting);
  }
  const parameters = parametersOf(setting, url);
  for (const [name, value] of parameters) {
    try {
      HONORED[name]!(value, config, tls);
    } catch (error) {
      if (error instanceof SeveralHosts) throw severalHosts(setting);
      throw new StartupError(`${setting}: the parameter ${name} ${(error as Error).message}`);
    }
  }
  const ssl = tlsOf(parameters, tls);
  if (ssl !== undefined) config.ssl = ssl;
  if (config.sslnegotiation === 'direct' && !ssl) {
    throw new StartupError(`${setting}: the parameter sslnegotiation requires an sslmode that encrypts`);
  }
  return config;
}

/**
 * Whether a password may contain `/`, `?` or `#` without percent-encoding. Part of it would then be read as the
 * database or a parameter, whose names appear in errors. The `@` before the host, which then follows it, reveals
 * this.
 */
function holdsPasswordElsewhere(url: URL, authority: string): boolean {
  const endsEarly = authority !== '' && url.username === '' && url.pathname === '';
  return url.hash !== '' || url.pathname.includes('@') || (endsEarly && url.search.includes('@'));
}

/** @throws StartupError for a parameter that is unknown, duplicate or not supported */
function parametersOf(setting: string, url: URL): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    if (!Object.hasOwn(HONORED, name)) {
      const shown = /^\w{1,40}$/.test(name) ? ` ${name}` : '';
      throw new StartupError(`${setting}: the parameter${shown} is not supported; remove it`);
    }
    if (parameters.has(name)) throw new StartupError(`${setting}: the parameter ${name} is given twice`);
    parameters.set(name, value);
  }
  return parameters;
}

/**
 * `require` verifies like `verify-full`: encryption without authentication protects little. Without any parameter, the
 * environment variable PGSSLMODE decides.
 */
function tlsOf(parameters: ReadonlyMap<string, string>, tls: ConnectionOptions): pg.ClientConfig['ssl'] {
  const mode = parameters.get('sslmode');
  const flag = parameters.get('ssl');
  if (mode === 'disable' || (mode === undefined && (flag === 'false' || flag === '0'))) return false;
  if (mode === undefined && flag === undefined && Object.keys(tls).length === 0) return undefined;
  if (mode === 'no-verify') return { ...tls, rejectUnauthorized: false };
  if (mode === 'verify-ca') return { ...tls, checkServerIdentity: () => undefined };
  return tls;
}

class SeveralHosts extends Error {}

function one(value: string): string {
  if (value.includes(',')) throw new SeveralHosts();
  return value;
}

function oneOf(value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value)) throw new Error(`must be ${allowed.join(' or ')}`);
  return value;
}

function matching(value: string, pattern: RegExp): string {
  if (!pattern.test(value)) throw new Error('must be a whole number');
  return value;
}

function tlsVersion(value: string): 'TLSv1.2' | 'TLSv1.3' {
  return oneOf(value, ['TLSv1.2', 'TLSv1.3']) as 'TLSv1.2' | 'TLSv1.3';
}

function severalHosts(setting: string): StartupError {
  return new StartupError(
    `${setting} names several hosts: name one, such as a proxy or a virtual address that leads to the primary`,
  );
}

function invalid(setting: string): StartupError {
  return new StartupError(
    `${setting} is not the address of a PostgreSQL server, such as ` +
      'postgresql://user:password@host:5432/latchkey. Percent-encode special characters in its parts, such as @ ' +
      'as %40 and / as %2F.',
  );
}

function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`names a file that cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
