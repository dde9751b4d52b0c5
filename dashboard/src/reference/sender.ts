import { announceSessionChange } from '../api/session-channel.ts';
import { sign } from './sign.ts';

/** The header in which the form puts the application's secret. It never leaves the page. */
const SECRET = 'x-application-secret';

interface Parameter {
  readonly name?: string;
  readonly example?: unknown;
  readonly $ref?: string;
}

interface Operation {
  readonly operationId: string;
  readonly 'x-signature'?: string;
  readonly parameters?: readonly Parameter[];
}

/** The parts of the contract that requests need. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
  readonly servers: readonly [{ readonly url: string }];
}

/**
 * Sends the requests of the page. An empty token is not sent, so that the session of the dashboard counts. What the
 * service accepts only once is new in each request: signatures, and the idempotency key of the examples.
 */
export function createSender(document: OpenApiDocument): typeof fetch {
  const exampleKey = document.components.parameters['IdempotencyKeyParameter']?.example;

  return async (input, init) => {
    const request = new Request(input, init);
    const headers = new Headers(request.headers);
    if (/^bearer\s*$/i.test(headers.get('authorization') ?? '-')) headers.delete('authorization');
    if (headers.get('idempotency-key') === exampleKey) headers.set('idempotency-key', crypto.randomUUID());
    const secret = headers.get(SECRET);
    headers.delete(SECRET);
    const operation = operationOf(document, request);
    if (!secret || !operation?.['x-signature']) {
      const response = await fetch(new Request(request, { headers }));
      await announce(operation?.operationId, response);
      return response;
    }
    const signed = await sign(operation.operationId, await request.text(), secret);
    for (const [name, value] of Object.entries(signed.headers)) headers.set(name, value);
    return fetch(request.url, { method: request.method, headers, body: signed.body });
  };
}

/** The operation of a request. The signed ones have no parameters in their path. */
function operationOf({ paths, servers }: OpenApiDocument, { url, method }: Request): Operation | undefined {
  const base = new URL(servers[0].url, location.href).pathname.replace(/\/$/, '');
  return paths[new URL(url).pathname.slice(base.length)]?.[method.toLowerCase()];
}

/** Notifies the tabs of the dashboard that the cookie has changed, so that they do not mix two accounts. */
async function announce(operationId: string | undefined, response: Response): Promise<void> {
  if (!response.ok) return;
  if (operationId === 'createBrowserSession') announceSessionChange(await response.clone().json());
  if (operationId === 'deleteBrowserSession') announceSessionChange(null);
}
