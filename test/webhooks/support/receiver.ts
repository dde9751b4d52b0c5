import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atFileEnd } from '../../support/at-file-end.ts';

/** A request to a receiver. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The message of a webhook. */
  readonly message: { readonly id: string; readonly type: string; readonly data: Record<string, unknown> };
}

const NO_MESSAGE = { id: '', type: '', data: {} };

/** The response of a receiver: a status, or a function that writes it. */
export type Behavior = number | ((response: ServerResponse, received: Received) => void);

export interface Receiver {
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly received: Received[];
  /** Ids of the events of a type, in the order of arrival. */
  ids(type?: string): string[];
  /** Changes the response. */
  respond(behavior: Behavior): void;
}

/** A local HTTP server for the calling test file, which keeps requests and responds with 204. */
export async function startReceiver(behavior: Behavior = 204): Promise<Receiver> {
  const received: Received[] = [];
  let current = behavior;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const { headers } = request;
      const isMessage = headers['content-type'] === 'application/json';
      const message = isMessage ? (JSON.parse(body) as Received['message']) : NO_MESSAGE;
      const each = { headers, body, message };
      received.push(each);
      if (typeof current === 'number') response.writeHead(current).end();
      else current(response, each);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    ids: (type) =>
      received
        .filter(({ message }) => type === undefined || message.type === type)
        .map(({ message }) => message.id),
    respond: (next) => (current = next),
  };
}
