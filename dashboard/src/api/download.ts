import { addressOf, type Input, type Route } from './client.ts';
import { recordRequest } from './request-log.ts';

/** The operations that return a file. */
type FileRoute = Extract<Route, `GET ${string}/export${string}` | `GET ${string}/content`>;

/** Lets the browser save the file of a response. It is written to disk as it arrives, so it can have any size. */
export function downloadFile<Of extends FileRoute>(route: Of, input: Input<Of>): void {
  const path = addressOf(route, input);
  recordRequest({ method: 'GET', path });
  const link = document.createElement('a');
  link.href = path;
  link.download = '';
  link.click();
}
