import { ApiError } from '../../foundation/errors/api-error.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import type { HandleKind, SessionFacts, SessionLookup } from './session-lookup.ts';

/**
 * Finds the live session that a client names.
 * @param appId the application of the session; undefined for any
 * @param handle the signed token, the encrypted token or the session id
 * @param signed whether the request is signed with the application's secret; ignored if it cannot be signed
 * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, SIGNATURE_REQUIRED
 */
export async function findLive(
  lookup: SessionLookup,
  appId: string | undefined,
  handle: string,
  signed: boolean,
  now: Date,
): Promise<SessionFacts> {
  return assertLive(await lookup.find(handleKind(handle), tokenDigest(handle)), appId, signed, now);
}

/** Refuses a session that is not live. @throws ApiError those of findLive */
export function assertLive(
  facts: SessionFacts | undefined,
  appId: string | undefined,
  signed: boolean,
  now: Date,
): SessionFacts {
  if (!facts || (appId !== undefined && facts.appId !== appId) || facts.endedAt) {
    throw new ApiError('SESSION_INVALID');
  }
  if (facts.expiresAt <= now) throw new ApiError('SESSION_EXPIRED');
  if (!signed && facts.requireSignatures) throw new ApiError('SIGNATURE_REQUIRED');
  return facts;
}

/** 128 bits in base64url have 22 characters; tokens are longer and contain dots. */
function handleKind(handle: string): HandleKind {
  return handle.length === 22 ? 'session_id' : 'token';
}
