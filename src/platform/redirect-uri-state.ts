const LONGEST = 2048;
/**
 * Characters of a URI (RFC 3986) without the fragment, which a redirect URI must not have (RFC 6749, section 3.1.2).
 */
const URI_CHARACTERS = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/;
/** A name of letters, digits, hyphens and dots, an IPv4 address, or an IPv6 address in brackets. */
const PLAIN_HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;
/** A private-use scheme is a reversed domain name, so it contains a period (RFC 8252, sections 7.1 and 8.4). */
const PRIVATE_USE_SCHEME = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/;
/** An origin with its host written out, as every browser and parser reads it. */
const WRITTEN_HOST = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?=[:/?]|$)/i;
const LOOPBACKS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Whether a URL leads to a program on the user's own machine by HTTP or HTTPS. */
export function isLoopback({ hostname }: URL): boolean {
  return LOOPBACKS.includes(hostname);
}

/**
 * What is wrong with a redirect URI, no matter which client registered it.
 * @returns words that complete "… must"; undefined if nothing is
 */
export function redirectUriFault(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > LONGEST || !URI_CHARACTERS.test(text)) {
    return `must only have URIs of at most ${LONGEST} characters, without a fragment`;
  }
  const url = URL.parse(text);
  if (!url) return 'must only have absolute URIs';
  if (!isWeb(url)) {
    if (PRIVATE_USE_SCHEME.test(url.protocol)) return undefined;
    return (
      'must only have https addresses, http addresses of this machine (loopback), and private-use schemes ' +
      'with a period, such as com.example.app'
    );
  }
  if (url.username !== '' || url.password !== '') return 'must not have URIs with credentials';
  if (!isPlainHost(text, url)) return 'must only have host names of letters, digits, hyphens and dots';
  // Codes would travel in clear text.
  if (url.protocol === 'http:' && !isLoopback(url)) {
    return 'must only have http addresses of this machine (loopback)';
  }
  return undefined;
}

/**
 * The source of a Content-Security-Policy that lets a form lead to an address: its origin or its scheme, never a path.
 * @returns undefined for an address that no form may lead to
 */
export function policySource(text: string): string | undefined {
  // A response may be in the query or the fragment.
  const [base] = text.split(/[?#]/, 1) as [string];
  if (redirectUriFault(base) !== undefined) return undefined;
  const url = new URL(base);
  // A policy cannot name an IPv6 address.
  return isWeb(url) && !url.hostname.startsWith('[') ? url.origin : url.protocol;
}

/**
 * Where an address leads, in words that a client cannot choose.
 * @returns undefined for what is not a URL
 */
export function placeOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url) return undefined;
  if (isWeb(url)) return isLoopback(url) ? 'a program on this machine' : url.host;
  // The rest of an address with a scheme of its own says nothing, even if it looks like a host.
  return `a program on this machine (${url.protocol})`;
}

/**
 * Whether the host is written in canonical form: `https:name` and `https:///name` lead elsewhere in a Location header,
 * and only some parsers normalize `127.1` or `%61.example`.
 */
function isPlainHost(text: string, { hostname }: URL): boolean {
  const written = WRITTEN_HOST.exec(text)?.[1]?.toLowerCase();
  return PLAIN_HOST.test(hostname) && (written === hostname || (isIpv6(written) && isIpv6(hostname)));
}

function isIpv6(host: string | undefined): boolean {
  return host?.startsWith('[') ?? false;
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'http:';
}
