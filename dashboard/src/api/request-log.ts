import { createStore } from '../lib/store.ts';

/** A request that the page sent, for showing it as a curl command. */
interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

const AT_MOST = 30;

/** The different requests of the page that is open, in order. */
export const sentRequests = createStore<readonly SentRequest[]>([]);

export function recordRequest(request: SentRequest): void {
  const others = sentRequests
    .get()
    .filter(({ method, path }) => method !== request.method || path !== request.path);
  sentRequests.set([...others, request].slice(-AT_MOST));
}

/** Forgets the requests of a page that was left. */
export function forgetRequests(): void {
  sentRequests.set([]);
}

const SECRET = /password|secret|authorization|(^|_)token$/i;

/** The request as a command. The token and every secret are placeholders. */
export function toCurl({ method, path, body }: SentRequest): string {
  const parts = [`curl`];
  if (method !== 'GET') parts.push(`-X ${method}`);
  parts.push(quoted(new URL(path, location.href).href), `-H 'Authorization: Bearer YOUR_API_TOKEN'`);
  if (body instanceof Blob) {
    parts.push(`-H 'Content-Type: application/octet-stream'`, `--data-binary @YOUR_FILE`);
  } else if (body !== undefined) {
    const text = JSON.stringify(body, (key, value: unknown) =>
      SECRET.test(key) && typeof value === 'string' ? `YOUR_${key.toUpperCase()}` : value,
    );
    parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(text)}`);
  }
  return parts.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
