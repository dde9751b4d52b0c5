import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail that the server received. */
export interface Received {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: unknown;
  readonly secure: boolean;
  readonly content: Buffer;
}

export interface MailServer {
  readonly port: number;
  readonly received: Received[];
  /** Ends it and all of its connections. */
  close(): Promise<void>;
}

/**
 * An SMTP server on the loopback.
 * @param options by default, it accepts everything from every sender, without TLS
 */
export async function startMailServer(
  atEnd: (cleanUp: () => Promise<void>) => void,
  options: SMTPServerOptions = {},
  port = 0,
): Promise<MailServer> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    onData(stream, { envelope, user, secure }, done) {
      void buffer(stream).then((content) => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        received.push({ from, to: envelope.rcptTo.map(({ address }) => address), user, secure, content });
        done();
      }, done);
    },
    ...options,
    closeTimeout: 1,
  });
  server.on('error', () => {});
  const listener = server.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  const closed = once(listener, 'close');
  const close = async () => {
    if (listener.listening) server.close();
    await closed;
  };
  atEnd(close);
  return { port: (listener.address() as AddressInfo).port, received, close };
}

/** The response of a server that refuses. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
