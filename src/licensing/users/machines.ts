import { timingSafeEqual } from 'node:crypto';
import { ApiError, invalidMember } from '../../foundation/errors/api-error.ts';
import { IDENTIFIER_FAULT, isVisibleIdentifier } from '../../foundation/names/names.ts';
import type { Client } from '../../platform/address.ts';

/** A machine at an address, and the program on it. */
export interface Origin {
  readonly hwid: string;
  readonly hwidDigest: Buffer;
  readonly version: string | null;
  readonly client: Client;
  /** The device that has signed the request. */
  readonly deviceId: string | null;
}

/** @param bound digest of the machine that a user is bound to; null before the first login */
export function isSameMachine(bound: Buffer | null, hwidDigest: Buffer): boolean {
  return bound !== null && timingSafeEqual(bound, hwidDigest);
}

/** @throws ApiError HWID_MISMATCH */
export function assertSameMachine(bound: Buffer | null, hwidDigest: Buffer): void {
  if (!isSameMachine(bound, hwidDigest)) throw new ApiError('HWID_MISMATCH');
}

/**
 * Users keep the machine that they are bound to, with any name; a new machine must have a visible name.
 * @throws ApiError VALIDATION_FAILED
 */
export function assertVisible({ hwid }: Origin): void {
  if (isVisibleIdentifier(hwid)) return;
  throw invalidMember('/hwid', IDENTIFIER_FAULT);
}
