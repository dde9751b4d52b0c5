import { openConnection } from './connection.ts';
import type { Answer } from './connection.ts';

/** Calls the API over one keep-alive connection, one request at a time. */
export interface Caller {
  /** @throws Error when the answer is not a success */
  call<Result>(method: 'POST' | 'PUT' | 'DELETE', path: string, body: object): Promise<Result>;
  close(): void;
}

/** @param token the developer's, for every request */
export function openCaller(port: number, token: string): Caller {
  let waiting = Promise.withResolvers<Answer>();
  const connection = openConnection(
    port,
    (answer) => waiting.resolve(answer),
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
      const { status, body: answer } = await waiting.promise;
      if (status < 200 || status > 299) throw new Error(`${method} ${path} answered ${status} ${answer}`);
      return JSON.parse(answer);
    },
    close: connection.close,
  };
}
