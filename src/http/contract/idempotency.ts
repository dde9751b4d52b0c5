import type { Operation } from 'openapi-backend';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';
import type { Identity } from './authentication.ts';
import type { Exchange } from './exchange.ts';
import type { HttpResponse } from '../transport/response.ts';

const HEADER = 'idempotency-key';

/**
 * Processes a request once for its `Idempotency-Key`, on operations whose contract has that header: a repeated request
 * gets the first one's response, with `Idempotency-Replayed: true`.
 */
export function createOnce(services: Pick<Services, 'applications' | 'idempotency'>) {
  const { applications, idempotency } = services;

  return async function once(
    exchange: Exchange,
    identity: Identity,
    work: () => Promise<HttpResponse>,
  ): Promise<HttpResponse> {
    const { operation, request, path, search, bytes = Buffer.alloc(0) } = exchange;
    const key = request.headers[HEADER];
    if (typeof key !== 'string' || !takesKeys(operation)) return work();
    const { owner, assertStillValid } = ownerOf(exchange, identity);
    // A response is replayed only to the same scopes: a token with others may see more or less.
    const scopes = [...(identity.scopes ?? [])].sort().join(' ');
    const sameRequest = [request.method!, path, search, request.headers.accept ?? '', bytes, scopes];
    const recorded = async () => {
      const { status, mediaType = '', headers = {}, body, text, stream } = await work();
      const written = stream ? await collect(stream) : (text ?? JSON.stringify(body));
      return { status, mediaType, headers, text: written };
    };
    const { response, replayed } = await idempotency.once(
      owner,
      key,
      sameRequest,
      recorded,
      assertStillValid,
    );
    if (!replayed) return response;
    return { ...response, headers: { ...response.headers, 'Idempotency-Replayed': 'true' } };
  };

  /** The owner of the key: only the same credentials can repeat the request, and only while they are valid. */
  function ownerOf({ body, trust }: Exchange, { actor, resellerId }: Identity): Owner {
    if (actor) return { owner: resellerId ?? actor.developerId };
    const { app_id: appId, secret, email } = body as Readonly<Record<string, unknown>>;
    if (typeof appId === 'string' && typeof secret === 'string') {
      const assertStillValid = () => applications.authenticate(appId, secret);
      return { owner: JSON.stringify([appId, secret]), assertStillValid };
    }
    if (trust?.device) {
      const assertStillValid = () => applications.secretless(trust.appId, trust);
      return { owner: JSON.stringify([trust.appId, trust.device.deviceId]), assertStillValid };
    }
    if (typeof email === 'string') return { owner: email.toLowerCase() };
    throw new ApiError('MALFORMED_REQUEST', { detail: 'The operation does not accept an Idempotency-Key.' });
  }
}

interface Owner {
  readonly owner: string;
  /** Throws when the owner's credentials are no longer valid, for callers that have not checked them. */
  readonly assertStillValid?: () => Promise<unknown>;
}

/** Whether an operation's contract has an `Idempotency-Key`. */
export function takesKeys(operation: Operation): boolean {
  return ((operation.parameters ?? []) as { readonly in: string; readonly name: string }[]).some(
    (parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === HEADER,
  );
}

/** Collects a stream into one text. */
export async function collect(stream: AsyncIterable<string | Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(typeof part === 'string' ? Buffer.from(part) : part);
  return Buffer.concat(parts).toString();
}
