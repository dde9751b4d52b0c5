import type { IncomingHttpHeaders } from 'node:http';
import type { Services } from '../services.ts';
import type { HandlerRequest } from '../../handlers/handler.ts';

type Signer = HandlerRequest<'verifySessionV2'>['signer'];

/** Whether an operation must be signed, or may; `x-signature` of the operation says so. */
export type SignatureMode = 'required' | 'optional';

/**
 * Checks the signature of a request over the raw bytes of its body, before the body is validated.
 * @returns undefined when it is not signed and need not be, or names no application: then validation refuses it
 * @throws ApiError those of Signatures.verify
 */
export async function signerOf(
  { signatures }: Services,
  mode: SignatureMode,
  headers: IncomingHttpHeaders,
  appId: string | undefined,
  body: Uint8Array,
): Promise<Signer> {
  const signature = one(headers['x-signature']);
  const timestamp = one(headers['x-timestamp']);
  const signed = signature !== undefined || timestamp !== undefined;
  if (appId === undefined || (mode === 'optional' && !signed)) return undefined;
  return signatures.verify({ appId, body, signature, timestamp });
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
