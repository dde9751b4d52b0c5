import { hash } from 'node:crypto';
import type { Knex } from 'knex';
import type { Application, Applications } from '../applications/applications.ts';
import { assertTrusted, type ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { hmacOf, isHmacOf } from './hmac.ts';
import { clearExpiredNonces, insertNonce } from './nonce-store.ts';
import {
  digested,
  requestText,
  responseText,
  type DigestedRequest,
  type SignableRequest,
  type SignatureVersion,
} from './signed-text.ts';

export type { SignableRequest, SignatureVersion } from './signed-text.ts';

/** How far a client's clock may differ, in either direction. */
export const SKEW_MS = 300_000;
/** How far the clocks of two nodes may differ. */
const CLOCKS_DIFFER_MS = 60_000;
const CLEARED_AT_ONCE = 1000;
const DAY_MS = 86_400_000;

/** A request that claims to be signed with its application's secret. */
export interface SignedRequest {
  readonly appId: string;
  readonly request: SignableRequest;
  /** The headers `x-signature` and `x-timestamp`. */
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly trust: ClientTrust | undefined;
}

/** An application together with the secret that signs for it. */
export interface Signer {
  readonly application: Application;
  /** The version of the signatures that it creates. */
  readonly version: SignatureVersion;
  /** Adds `signature` to a result, so that the client can detect changes to it. */
  sign<Result extends object>(result: Result, nonce: string): Result & { signature: string };
}

export interface Signatures {
  /**
   * Checks the signature, of the version that the request names (1 by default), and then the timestamp. Uses
   * up no nonce.
   * @throws ApiError SIGNATURE_REQUIRED, INVALID_APP_CREDENTIALS, TIMESTAMP_OUT_OF_RANGE, CLIENT_TRUST_REQUIRED
   */
  verify(request: SignedRequest): Promise<Signer>;
  /**
   * Uses up the nonce of a request that a device has signed, so that the request works only once on any number of
   * nodes.
   * @throws ApiError NONCE_REUSED
   */
  spendOfDevice(deviceId: string, nonce: string): Promise<void>;
  /**
   * Uses up the nonce of a signed request, so that the request works only once on any number of nodes. Does
   * nothing for a request without a signature or a nonce.
   * @throws ApiError NONCE_REUSED
   */
  spend(signer: Signer | undefined, nonce: string | undefined): Promise<void>;
  /**
   * The signer of responses to an unsigned request. If the application binds responses, they are signed with
   * version 2 even if the request names another one: an unbound signature could be replayed as the response
   * to another request.
   * @param trust of the request; the signature of a device counts as one if programs need not know the secret
   * @throws ApiError INVALID_APP_CREDENTIALS, CLIENT_TRUST_REQUIRED; SIGNATURE_REQUIRED if the application requires
   *   signatures
   */
  signerOf(appId: string, request: SignableRequest, trust: ClientTrust | undefined): Promise<Signer>;
  /** Deletes some expired nonces. @returns how many */
  clearExpired(): Promise<number>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly applications: Applications;
  readonly clock: Clock;
  /** How long a nonce is kept, in days. */
  readonly nonceDays: number;
}

export function createSignatures({ knex, applications, clock, nonceDays }: Dependencies): Signatures {
  function assertInTime(timestamp: string): void {
    const now = clock.now();
    if (/^\d{1,15}$/.test(timestamp) && Math.abs(Number(timestamp) - now.getTime()) <= SKEW_MS) return;
    throw new ApiError('TIMESTAMP_OUT_OF_RANGE', { members: { server_time: now.toISOString() } });
  }

  return {
    async verify({ appId, request: sent, signature, timestamp, trust }) {
      if (signature === undefined || timestamp === undefined) throw new ApiError('SIGNATURE_REQUIRED');
      const request = digested(sent);
      const text = requestText(request, timestamp);
      const { application, secret } = await applications.authenticateBy(appId, (candidate) =>
        isHmacOf(signature, candidate, text),
      );
      assertInTime(timestamp);
      assertTrusted(application.requireClientTrust, trust, 'device');
      return toSigner(application, secret, request, request.version ?? 1);
    },

    async spend(signer, nonce) {
      if (!signer || nonce === undefined) return;
      const now = clock.now();
      const expiresAt = new Date(now.getTime() + nonceDays * DAY_MS);
      const digest = hash('sha256', `${signer.application.appId}\0${nonce}`, 'buffer');
      if (!(await insertNonce(knex, digest, expiresAt, now))) throw new ApiError('NONCE_REUSED');
    },

    async spendOfDevice(deviceId, nonce) {
      const now = clock.now();
      // Later, its time of creation is out of range.
      const expiresAt = new Date(now.getTime() + 2 * SKEW_MS + CLOCKS_DIFFER_MS);
      const digest = hash('sha256', `${deviceId}\0${nonce}`, 'buffer');
      if (!(await insertNonce(knex, digest, expiresAt, now))) throw new ApiError('NONCE_REUSED');
    },

    async signerOf(appId, request, trust) {
      const { application, secret } = await applications.withSecret(appId);
      assertTrusted(application.requireClientTrust, trust, 'device');
      const isOfDevice = application.secretlessClients && trust?.device !== undefined;
      if (application.requireSignatures && !isOfDevice) throw new ApiError('SIGNATURE_REQUIRED');
      // Anyone can register a device: its response must not pass as that to a program with the secret.
      const version = application.bindResponses || trust?.device ? 2 : (request.version ?? 1);
      return toSigner(application, secret, digested(request), version);
    },

    clearExpired: () => clearExpiredNonces(knex, clock.now(), CLEARED_AT_ONCE),
  };
}

function toSigner(
  application: Application,
  secret: Uint8Array,
  request: DigestedRequest,
  version: SignatureVersion,
): Signer {
  return {
    application,
    version,
    sign: (result, nonce) => ({
      ...result,
      signature: hmacOf(secret, responseText(version, request, nonce, result)),
    }),
  };
}
