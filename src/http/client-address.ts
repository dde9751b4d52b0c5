import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { canonicalAddress } from '../platform/address.ts';

/** Where a request comes from. */
export interface Client {
  /** In canonical form; worked out when it is first asked for. */
  readonly address: string;
}

/**
 * Tells clients by the socket's address. `X-Forwarded-For` counts only as far as the proxies that wrote it are trusted:
 * the client is the last address in it that is not one of theirs.
 * @param trustedProxies addresses and networks in CIDR form
 */
export function createClientOf(trustedProxies: readonly string[]): (request: IncomingMessage) => Client {
  const trusts = proxyAddr.compile([...trustedProxies]);

  function addressOf(request: IncomingMessage): string {
    const socket = request.socket.remoteAddress ?? '';
    if (trustedProxies.length === 0) return canonicalAddress(socket) ?? socket;
    // What a trusted proxy forwarded and is no address tells nothing: then it is the proxy itself.
    return canonicalAddress(proxyAddr(request, trusts)) ?? canonicalAddress(socket) ?? socket;
  }

  return (request) => new LazyClient(() => addressOf(request));
}

/** Most requests are answered without their address. */
class LazyClient implements Client {
  readonly #find: () => string;
  #address: string | undefined;

  constructor(find: () => string) {
    this.#find = find;
  }

  get address(): string {
    return (this.#address ??= this.#find());
  }
}
