import { isCookie } from '../../foundation/tokens/tokens.ts';

/** Browsers accept this prefix only for a cookie of this host alone, over HTTPS (RFC 6265bis, section 4.1.3.2). */
const HOST_PREFIX = '__Host-';
const NAME = 'latchkey_session';

/** The cookie of a browser session, as headers contain it (RFC 6265). */
export interface SessionCookie {
  /**
   * The value in a `Cookie` header.
   * @returns undefined without exactly one: another page of the same host name may have set a second one
   */
  read(header: string | undefined): string | undefined;
  /** A `Set-Cookie` header for a new session. */
  set(value: string, secondsLeft: number): string;
  /** A `Set-Cookie` header that deletes the cookie. */
  clear(): string;
}

/** @param webUrl `{web_url}`; with plain HTTP, browsers accept neither the prefix nor `Secure` on every host */
export function createSessionCookie(webUrl: () => string): SessionCookie {
  const isSecure = () => URL.parse(webUrl())?.protocol === 'https:';
  const nameOf = () => (isSecure() ? `${HOST_PREFIX}${NAME}` : NAME);

  const toHeader = (value: string, maxAge: number) =>
    [
      `${nameOf()}=${value}`,
      'Path=/',
      `Max-Age=${maxAge}`,
      'HttpOnly',
      'SameSite=Strict',
      ...(isSecure() ? ['Secure'] : []),
    ].join('; ');

  return {
    read(header) {
      if (header === undefined) return undefined;
      const start = `${nameOf()}=`;
      const found = header
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(start));
      const value = found.length === 1 ? found[0]!.slice(start.length) : '';
      return isCookie(value) ? value : undefined;
    },
    set: (value, secondsLeft) => toHeader(value, secondsLeft),
    clear: () => toHeader('', 0),
  };
}
