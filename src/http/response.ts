import type { ServerResponse } from 'node:http';

/** An answer before it is written. */
export interface HttpResponse {
  readonly status: number;
  readonly mediaType: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers of every answer: none is stored by a cache or taken for anything but its media type. */
export const COMMON_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };

/** Writes an answer; an answer to HEAD goes without its body. */
export function writeResponse(response: ServerResponse, requestId: string, answer: HttpResponse): void {
  const body = JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    ...COMMON_HEADERS,
    'Content-Type': answer.mediaType,
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId,
    ...answer.headers,
  });
  response.end(body);
}
