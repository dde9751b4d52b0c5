import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { atFileEnd } from '../../../support/at-file-end.ts';

/** An event as received. */
export interface Received {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** A webhook that records its events. */
export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** The status of its responses; a function is called for each event. */
  status: number | ((event: Received) => number);
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const event = { body, headers: request.headers };
      const { status } = receiver;
      response.statusCode = typeof status === 'number' ? status : status(event);
      receiver.received.push(event);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = { url: `http://127.0.0.1:${port}/webhook`, received: [], status: 204 };
  return receiver;
}
