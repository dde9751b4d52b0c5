import { assertTrusted, type ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import { tokenDigest } from '../../foundation/tokens/tokens.ts';
import type { HandleKind, SessionFacts, SessionLookup } from './session-lookup.ts';

/** What proves that a request comes from the program that holds a session. */
export interface Proof {
  /** Whether it is signed with the application's secret; true if it cannot be. */
  readonly signed: boolean;
  /** Undefined for a request that requests no signed response. */
  readonly trust: ClientTrust | undefined;
}

/** The proof of a session that was identified before. */
export const PROVEN = 'proven';

/**
 * Finds the live session that a client names.
 * @param appId the application of the session; undefined for any
 * @param handle the signed token, the encrypted token or the session id
 * @throws ApiError SESSION_INVALID, SESSION_EXPIRED, SIGNATURE_REQUIRED, CLIENT_TRUST_REQUIRED,
 *   DEVICE_SIGNATURE_INVALID, DEVICE_MISMATCH
 */
export async function findLive(
  lookup: SessionLookup,
  appId: string | undefined,
  handle: string,
  proof: Proof,
  now: Date,
): Promise<SessionFacts> {
  return assertLive(await findByHandle(lookup, handle), appId, proof, now);
}

/** Finds the session that a client names, in any state. */
export function findByHandle(lookup: SessionLookup, handle: string): Promise<SessionFacts | undefined> {
  return lookup.find(handleKind(handle), tokenDigest(handle));
}

/** Refuses a session that is not live. @throws ApiError those of findLive */
export function assertLive(
  facts: SessionFacts | undefined,
  appId: string | undefined,
  proof: Proof | typeof PROVEN,
  now: Date,
): SessionFacts {
  if (!facts || (appId !== undefined && facts.appId !== appId) || facts.endedAt) {
    throw new ApiError('SESSION_INVALID');
  }
  if (facts.expiresAt <= now) throw new ApiError('SESSION_EXPIRED');
  if (facts.requireClientTrust && facts.deviceId === null) throw new ApiError('CLIENT_TRUST_REQUIRED');
  if (proof !== PROVEN) assertProven(facts, proof);
  return facts;
}

function assertProven(facts: SessionFacts, { signed, trust }: Proof): void {
  // The key of the other application would vouch for this session.
  if (trust !== undefined && trust.appId !== facts.appId) throw new ApiError('SESSION_INVALID');
  assertTrusted(facts.requireClientTrust, trust, 'device');
  const isSigned = signed || (facts.secretlessClients && trust?.device !== undefined);
  if (!isSigned && facts.requireSignatures) throw new ApiError('SIGNATURE_REQUIRED');
  if (facts.deviceId !== null) assertDevice(facts.deviceId, trust);
}

/** @throws ApiError DEVICE_SIGNATURE_INVALID, DEVICE_MISMATCH */
export function assertDevice(deviceId: string, trust: ClientTrust | undefined): void {
  if (!trust?.device) throw new ApiError('DEVICE_SIGNATURE_INVALID');
  if (trust.device.deviceId !== deviceId) throw new ApiError('DEVICE_MISMATCH');
}

/** 128 bits in base64url have 22 characters; tokens are longer and contain dots. */
function handleKind(handle: string): HandleKind {
  return handle.length === 22 ? 'session_id' : 'token';
}
