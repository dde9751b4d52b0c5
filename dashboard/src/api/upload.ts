import { addressOf, call, type Input, type Success } from './client.ts';
import { problemOf, unreachable } from './problem.ts';
import { recordRequest } from './request-log.ts';

const ROUTE = 'PUT /api/v2/dev/apps/{app_id}/files/{file_name}';

interface Options extends Pick<Input<typeof ROUTE>, 'path' | 'query'> {
  readonly file: Blob;
  readonly onProgress: (sent: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Uploads the content of a file with `XMLHttpRequest`, because `fetch` does not say how much was sent.
 * @throws Problem, or the reason of the signal
 */
export async function uploadFile({
  file,
  onProgress,
  signal,
  ...input
}: Options): Promise<Success<typeof ROUTE>> {
  // If the session has ended, the user signs in again before the content is sent, and not after it.
  await call('GET /api/v2/dev/me', { signal });
  const address = addressOf(ROUTE, input);
  recordRequest({ method: 'PUT', path: address, body: file });
  const response = await send(address, file, onProgress, signal);
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as Success<typeof ROUTE>;
}

function send(
  address: string,
  file: Blob,
  onProgress: (sent: number) => void,
  signal: AbortSignal,
): Promise<Response> {
  const request = new XMLHttpRequest();
  const abort = () => request.abort();
  return new Promise<Response>((resolve, reject) => {
    request.open('PUT', address);
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', 'application/octet-stream');
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(unreachable(undefined));
    request.onabort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort);
    if (signal.aborted) reject(signal.reason as Error);
    else request.send(file);
  }).finally(() => signal.removeEventListener('abort', abort));
}

function responseOf(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of ['Content-Type', 'X-Request-Id', 'Retry-After']) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(request.responseText, { status: request.status, headers });
}
