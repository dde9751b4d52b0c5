import type { IncomingHttpHeaders } from 'node:http';
import type { HandlerRequest } from '../../../handlers/handler.ts';
import type { ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import type { Services } from '../../services.ts';

type Signing = Pick<HandlerRequest<'verifySessionV2'>, 'signer' | 'signable'>;

/** Whether an operation's requests must or may be signed; `x-signature` of the operation says which. */
export type SignatureMode = 'required' | 'optional';

const VERSIONS = { 1: 1, 2: 2 } as const;

/** A request to an operation that accepts signatures. */
interface SignatureRequest {
  readonly operation: string;
  readonly headers: IncomingHttpHeaders;
  /** The parsed body. */
  readonly value: unknown;
  /** The body exactly as received. */
  readonly bytes: Uint8Array;
  readonly trust: ClientTrust | undefined;
}

/**
 * Checks the signature of a request over the raw bytes of its body, before the body is validated.
 * @returns no signer when the request is not signed and need not be, or when it names no application: then validation
 *   refuses it
 * @throws ApiError SIGNATURE_VERSION_UNSUPPORTED, the errors of Signatures.verify, and VALIDATION_FAILED where version
 *   2 lacks a nonce
 */
export async function readSignature(
  { signatures }: Services,
  mode: SignatureMode,
  { operation, headers, value, bytes, trust }: SignatureRequest,
): Promise<Signing> {
  const signable = { operation, body: bytes, version: versionOf(headers['x-signature-version']) };
  const signature = one(headers['x-signature']);
  const timestamp = one(headers['x-timestamp']);
  const signed = signature !== undefined || timestamp !== undefined;
  const { app_id: appId, nonce } = (value ?? {}) as { app_id?: unknown; nonce?: unknown };
  const signer =
    typeof appId !== 'string' || (mode === 'optional' && !signed)
      ? undefined
      : await signatures.verify({ appId, request: signable, signature, timestamp, trust });
  if (signable.version === 2 && nonce === undefined) {
    throw invalidMember('/nonce', 'is required with x-signature-version: 2');
  }
  return { signer, signable };
}

function versionOf(header: string | string[] | undefined) {
  const named = one(header);
  if (named === undefined) return undefined;
  if (named === '1' || named === '2') return VERSIONS[named];
  throw new ApiError('SIGNATURE_VERSION_UNSUPPORTED');
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
