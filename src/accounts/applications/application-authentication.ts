import type { Knex } from 'knex';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Client } from '../../platform/address.ts';
import { isSameSecret } from '../../platform/constant-time.ts';
import type { Random } from '../../platform/random.ts';
import { noteApplication } from '../../platform/request-scope.ts';
import type { Vpn } from '../../foundation/vpn/vpn.ts';
import { assertTrusted, type ClientTrust } from '../../foundation/client-trust/client-trust.ts';
import { assertUsable, toApplication, type Application } from './application.ts';
import type { ApplicationSecrets, SecretProof } from './application-secrets.ts';
import * as store from './application-store.ts';
import { isBelow } from './version.ts';

/** What a program receives when it starts. */
export interface Handshake {
  /** 128 random bits that identify one run of a program; they authorize nothing. */
  readonly sessionId: string;
  readonly name: string;
  readonly statusCode: 'active' | 'paused' | 'update_required';
  readonly downloadUrl: string | null;
}

/** A program that starts. */
export interface Program {
  readonly version?: string | undefined;
  /** The SHA-256 of its executable in hexadecimal. */
  readonly executableHash?: string | undefined;
}

/** How the programs of an application authenticate. */
export interface ApplicationAuthentication {
  /**
   * Finds an application by its credentials. An unknown application takes as long as a wrong secret.
   * @throws ApiError INVALID_APP_CREDENTIALS, APPLICATION_INACTIVE, CLIENT_TRUST_REQUIRED
   */
  authenticate(appId: string, secret: string): Promise<Application>;
  /**
   * Finds an application in any status by a proof that only its secret allows. An unknown application takes
   * as long as a failed proof.
   * @param proves whether a secret is the right one, in constant time. It is called twice: with the current
   *   secret, and with the previous one or a decoy.
   * @returns the application and the secret that the proof accepted
   * @throws ApiError INVALID_APP_CREDENTIALS
   */
  authenticateBy(
    appId: string,
    proves: SecretProof,
  ): Promise<{ readonly application: Application; readonly secret: Buffer }>;
  /**
   * An application in any status with its current secret, for requests of clients that need not know the
   * secret.
   * @throws ApiError INVALID_APP_CREDENTIALS
   */
  withSecret(appId: string): Promise<{ readonly application: Application; readonly secret: Buffer }>;
  /**
   * Finds an application for one of its programs, without its secret.
   * @param trust of the request
   * @throws ApiError APPLICATION_NOT_FOUND, APPLICATION_INACTIVE, CLIENT_TRUST_REQUIRED
   */
  usable(appId: string, trust: ClientTrust | undefined): Promise<Application>;
  /**
   * Finds an application whose programs need not know the secret, for a request that a device has signed.
   * @throws ApiError those of usable; SECRET_REQUIRED, DEVICE_SIGNATURE_INVALID
   */
  secretless(appId: string, trust: ClientTrust | undefined): Promise<Application>;
  /**
   * The handshake of a program that starts.
   * @throws ApiError INTEGRITY_FAILED, VPN_BLOCKED
   */
  init(application: Application, program: Program, client: Client): Handshake;
}

interface Dependencies {
  readonly knex: Knex;
  readonly vpn: Vpn;
  readonly random: Random;
  readonly secrets: ApplicationSecrets;
}

export function createApplicationAuthentication(deps: Dependencies): ApplicationAuthentication {
  const { knex, vpn, random, secrets } = deps;

  async function authenticateBy(appId: string, proves: SecretProof) {
    const { row, secret } = secrets.find(await store.findApplication(knex, appId), proves);
    noteApplication(row.app_id);
    return { application: toApplication(row), secret };
  }

  async function authenticate(appId: string, secret: string): Promise<Application> {
    const { application } = await authenticateBy(appId, (expected) => isSameSecret(expected, secret));
    assertUsable(application);
    // A request with the secret is no proof of anything that the program's owner could not know.
    assertTrusted(application.requireClientTrust, undefined, 'response');
    return application;
  }

  async function usable(appId: string, trust: ClientTrust | undefined): Promise<Application> {
    const row = await store.findApplication(knex, appId);
    if (!row) {
      throw new ApiError('APPLICATION_NOT_FOUND', { detail: 'There is no application with this app_id.' });
    }
    const application = toApplication(row);
    assertUsable(application);
    assertTrusted(application.requireClientTrust, trust, 'response');
    return application;
  }

  return {
    authenticate,
    authenticateBy,
    withSecret: (appId) => authenticateBy(appId, () => true),

    usable,

    async secretless(appId, trust) {
      const application = await usable(appId, trust);
      if (!application.secretlessClients) throw new ApiError('SECRET_REQUIRED');
      if (trust?.device === undefined) throw new ApiError('DEVICE_SIGNATURE_INVALID');
      return application;
    },

    init(application, { version, executableHash }, client) {
      vpn.assertNone(application, client);
      if (application.integrityCheck) {
        const allowed = application.executableHashes.includes(executableHash?.toLowerCase() ?? '');
        if (!allowed) throw new ApiError('INTEGRITY_FAILED');
      }
      return {
        sessionId: random.bytes(16).toString('base64url'),
        name: application.name,
        statusCode: handshakeStatus(application, version),
        downloadUrl: application.downloadUrl,
      };
    },
  };
}

function handshakeStatus(application: Application, version: string | undefined): Handshake['statusCode'] {
  if (application.status === 'paused') return 'paused';
  if (version !== undefined && application.minimumVersion && isBelow(version, application.minimumVersion)) {
    return 'update_required';
  }
  return 'active';
}
