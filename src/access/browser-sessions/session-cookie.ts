import { isCookie } from '../../foundation/tokens/tokens.ts';

/** Browsers accept this prefix only for a cookie of this host alone, over HTTPS (RFC 6265bis, section 4.1.3.2). */
const HOST_PREFIX = '__Host-';
const NAME = 'latchkey_session';
/** Each costs a lookup. */
const MAX_VALUES = 4;

/** The cookie of a browser session, as headers contain it (RFC 6265). */
export interface SessionCookie {
  /**
   * The value in a `Cookie` header.
   * @returns undefined without exactly one: another page of the same host name may have set a second one
   */
  read(header: string | undefined): string | undefined;
  /** All values in a `Cookie` header, of which there should be one. The first few, if another page has set many. */
  readAll(header: string | undefined): readonly string[];
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

  // Other white space is a part of the name, to which browsers do not apply the rules of the prefix.
  const valuesIn = (header: string | undefined) =>
    (header ?? '')
      .split(/;[ \t]*/)
      .filter((pair) => pair.startsWith(`${nameOf()}=`))
      .map((pair) => pair.slice(nameOf().length + 1));

  return {
    read(header) {
      const [value = '', ...others] = valuesIn(header);
      return others.length === 0 && isCookie(value) ? value : undefined;
    },
    readAll: (header) => valuesIn(header).filter(isCookie).slice(0, MAX_VALUES),
    set: (value, secondsLeft) => toHeader(value, secondsLeft),
    clear: () => toHeader('', 0),
  };
}
