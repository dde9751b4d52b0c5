import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** Version 1 covers the body of a request, and nonce and result of a response; version 2 ties both to operation and request. */
export type SignatureVersion = 1 | 2;

/** A request that signatures may cover. */
export interface SignableRequest {
  /** The operationId of the contract. */
  readonly operation: string;
  /** The body exactly as it came. */
  readonly body: Uint8Array;
  /** The version that the request asks for; undefined when it names none. */
  readonly version: SignatureVersion | undefined;
}

/** A request together with what version 2 needs of it. */
export interface DigestedRequest extends SignableRequest {
  /** SHA-256 of the body in lower-case hexadecimal. */
  readonly bodyDigest: string;
}

/** Digests the body of a request once, as soon as it is needed: version 1 never needs it, version 2 twice. */
export function digested({ operation, body, version }: SignableRequest): DigestedRequest {
  let digest: string | undefined;
  return {
    operation,
    body,
    version,
    get bodyDigest() {
      return (digest ??= hash('sha256', body, 'hex'));
    },
  };
}

/**
 * What `x-signature` covers. A text of version 2 begins with its purpose, which is neither JSON nor a nonce: no signature of one
 * version or direction is one of another.
 * @param timestamp the header `x-timestamp` as it came
 */
export function requestText(request: DigestedRequest, timestamp: string): Uint8Array | string {
  if (request.version !== 2) return request.body;
  return lines('latchkey-request-v2', request.operation, timestamp, request.bodyDigest);
}

/**
 * What `signature` of a response covers. JCS is the JSON canonicalization of RFC 8785.
 * @param nonce the one of the request; it has no line feed, nor has JCS
 */
export function responseText(
  version: SignatureVersion,
  request: DigestedRequest,
  nonce: string,
  result: object,
): string {
  const jcs = canonicalize(result)!;
  if (version === 1) return `${nonce}.${jcs}`;
  return lines('latchkey-response-v2', request.operation, request.bodyDigest, nonce, jcs);
}

function lines(...parts: readonly string[]): string {
  return parts.join('\n');
}
