import type { IncomingMessage } from 'node:http';

/** The path of a request, without its query. */
export function pathOf(request: IncomingMessage): string {
  return request.url!.split('?', 1)[0]!;
}

/** The query of a request, without its question mark. */
export function searchOf(request: IncomingMessage): string {
  const start = request.url!.indexOf('?');
  return start < 0 ? '' : request.url!.slice(start + 1);
}
