import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Version 1 covers the body of a request, and the nonce and result of a response. Version 2 also binds both
 * to the operation and the request.
 */
export type SignatureVersion = 1 | 2;

/** A request that signatures may cover. */
export interface SignableRequest {
  /** The operationId of the contract. */
  readonly operation: string;
  /** The body exactly as it was received. */
  readonly body: Uint8Array;
  /** The version that the request names; undefined when it names none. */
  readonly version: SignatureVersion | undefined;
}

/** A request with what version 2 needs in addition. */
export interface DigestedRequest extends SignableRequest {
  /** SHA-256 of the body in lowercase hexadecimal. */
  readonly bodyDigest: string;
}

/**
 * Digests the body of a request once, when it is first needed: version 1 never needs it, version 2 needs it
 * twice.
 */
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
 * What `x-signature` covers. In version 2 it begins with its purpose, which is neither JSON nor a nonce, so
 * that a signature of one version or direction is never valid for another.
 * @param timestamp the header `x-timestamp` as it was received
 */
export function requestText(request: DigestedRequest, timestamp: string): Uint8Array | string {
  if (request.version !== 2) return request.body;
  return lines('latchkey-request-v2', request.operation, timestamp, request.bodyDigest);
}

/**
 * What `signature` of a response covers. JCS is the JSON canonicalization of RFC 8785.
 * @param nonce that of the request; neither it nor JCS contains a line feed
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
