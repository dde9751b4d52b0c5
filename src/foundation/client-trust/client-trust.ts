import { ApiError } from '../errors/api-error.ts';

/** A device that has signed a request. */
export interface ProvenDevice {
  /** `dev_` and the JWK thumbprint (RFC 7638) of its key. */
  readonly deviceId: string;
  /** The machine that it is registered for; null in the request that registers it. */
  readonly hwidDigest: Buffer | null;
}

/** What is known about the program that sends a request for a signed response. */
export interface ClientTrust {
  /** The application whose key signs the response. */
  readonly appId: string;
  /** Undefined for a request without the signature of a device. */
  readonly device: ProvenDevice | undefined;
}

/**
 * Refuses an untrusted request to an application with the switch `require_client_trust`.
 * @param isRequired whether the switch is on
 * @param trust undefined for a request that requests no signed response
 * @param needs `device` for everything about a session, `response` for the rest
 * @throws ApiError CLIENT_TRUST_REQUIRED
 */
export function assertTrusted(
  isRequired: boolean,
  trust: ClientTrust | undefined,
  needs: 'response' | 'device',
): void {
  if (!isRequired) return;
  if (trust === undefined || (needs === 'device' && trust.device === undefined)) {
    throw new ApiError('CLIENT_TRUST_REQUIRED');
  }
}
