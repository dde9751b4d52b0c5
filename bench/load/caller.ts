import { openConnection } from './connection.ts';
import type { RawResponse } from './connection.ts';

/** Calls the API over one keep-alive connection, one request at a time. */
export interface Caller {
  /** @throws Error when the response is not a success */
  call<Result>(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object): Promise<Result>;
  close(): void;
}

/** @param token the developer's, for every request */
export function openCaller(port: number, token: string): Caller {
  let waiting = Promise.withResolvers<RawResponse>();
  const connection = openConnection(
    port,
    (response) => waiting.resolve(response),
    (error) => waiting.reject(error),
  );
  return {
    async call(method, path, body) {
      waiting = Promise.withResolvers();
      const text = JSON.stringify(body);
      connection.send(
        `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: latchkey-bench\r\n` +
          `Authorization: Bearer ${token}\r\nAccept: application/json\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${text.length}\r\n\r\n${text}`,
      );
      const { status, body: response } = await waiting.promise;
      if (status < 200 || status > 299) throw new Error(`${method} ${path} returned ${status} ${response}`);
      return JSON.parse(response);
    },
    close: connection.close,
  };
}
