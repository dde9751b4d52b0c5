import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import proxyAddr from 'proxy-addr';
import { canonicalAddress, type Client } from '../../platform/address.ts';

/** Some proxies add the port of the client. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+)|\[([^\]]+)\])(?::\d+)?$/;

/**
 * Identifies clients by the socket's address. `X-Forwarded-For` counts only as far as the proxies that wrote it are
 * trusted: the client is the last address in it that is not a trusted proxy.
 * @param trustedProxies addresses and networks in CIDR form
 */
export function createClientOf(trustedProxies: readonly string[]): (request: IncomingMessage) => Client {
  const trusts = proxyAddr.compile([...trustedProxies]);

  function forwardedAddress(request: IncomingMessage, socketAddress: string): string | undefined {
    if (trustedProxies.length === 0 || !trusts(socketAddress, 0)) return undefined;
    const written = proxyAddr(request, trusts);
    const [, v4, v6] = WITH_PORT.exec(written) ?? [];
    return canonicalAddress(v4 ?? v6 ?? written);
  }

  return (request) => {
    const socketAddress = addressOf(request.socket);
    return new LazyClient(
      // If a trusted proxy forwards something that is not an address, the client is the proxy itself.
      () => forwardedAddress(request, socketAddress) ?? canonicalAddress(socketAddress) ?? socketAddress,
      request.headers['user-agent'],
    );
  };
}

/** The other end of a connection, as the client where no request has named one. */
export function peerOf(socket: Socket): Client {
  const socketAddress = addressOf(socket);
  return new LazyClient(() => canonicalAddress(socketAddress) ?? socketAddress);
}

/** Call it at once: a closed socket no longer knows its address. */
function addressOf(socket: Socket): string {
  return socket.remoteAddress ?? '0.0.0.0';
}

class LazyClient implements Client {
  readonly #find: () => string;
  #address: string | undefined;
  readonly userAgent: string | undefined;

  constructor(find: () => string, userAgent?: string) {
    this.#find = find;
    this.userAgent = userAgent;
  }

  get address(): string {
    return (this.#address ??= this.#find());
  }
}
