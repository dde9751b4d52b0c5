import { promises as dns, type LookupAddress } from 'node:dns';

const TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Resolves a host name into all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/**
 * Queries the name servers of the machine. The lookup of the operating system would block one of the few threads that
 * password hashing needs for as long as a name server does not respond.
 */
export function createResolver(): Resolve {
  const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  return async (hostname) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  };
}
