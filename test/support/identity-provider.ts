import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Clock } from '../../src/platform/clock.ts';
import { atFileEnd } from './at-file-end.ts';

const LIFETIME_S = 300;

/** A key of the provider. */
export interface ProviderKey {
  readonly keyId: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Changes of a valid token. Undefined removes a claim. */
export interface Changes {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: ProviderKey;
}

/** An HTTP server of an identity provider whose assertions are about its users. */
export interface IdentityProvider {
  readonly issuer: string;
  /** The number of requests for its keys. */
  readonly fetches: () => number;
  /** The response with its keys. */
  readonly keySet: {
    status: number;
    cacheControl: string | undefined;
    /** Writes the JSON of the keys. */
    write: (json: string) => Uint8Array;
  };
  readonly key: () => ProviderKey;
  /** Publishes another key, and signs with it. */
  rotate(alg?: string, keepOld?: boolean): Promise<ProviderKey>;
  /** An ID-JAG for a new subject by default. */
  grant(audience: string, changes?: Changes): Promise<string>;
  /** A Security Event Token, or a logout token. */
  event(audience: string, typ: 'secevent+jwt' | 'logout+jwt', changes?: Changes): Promise<string>;
}

/** Creates a key of a provider. */
export async function newProviderKey(alg = 'ES256'): Promise<ProviderKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const keyId = randomBytes(8).toString('hex');
  return {
    keyId,
    alg,
    privateKey,
    publicJwk: { ...(await exportJWK(publicKey)), kid: keyId, alg, use: 'sig' },
  };
}

/** The settings to trust providers. */
export function trusting(...issuers: readonly string[]): Record<string, string> {
  return { AGENT_ISSUERS: issuers.join(','), AGENT_ISSUER_NETWORKS: '127.0.0.0/8' };
}

/**
 * Starts a provider for the calling test file.
 * @param clock that of the service under test, or the machine's for another process
 */
export async function startIdentityProvider(
  clock: Clock = { now: () => new Date() },
): Promise<IdentityProvider> {
  let published = [await newProviderKey()];
  let fetches = 0;
  const keySet: IdentityProvider['keySet'] = {
    status: 200,
    cacheControl: undefined,
    write: (json) => Buffer.from(json),
  };
  const server = createServer((request, response) => {
    if (request.url !== '/.well-known/jwks.json') return void response.writeHead(404).end();
    fetches += 1;
    const headers = {
      'content-type': 'application/json',
      ...(keySet.cacheControl !== undefined && { 'cache-control': keySet.cacheControl }),
    };
    const keys = published.map(({ publicJwk }) => publicJwk);
    response.writeHead(keySet.status, headers).end(keySet.write(JSON.stringify({ keys })));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = () => published[0]!;

  async function sign(typ: string, claims: Record<string, unknown>, changes: Changes = {}): Promise<string> {
    const { keyId, alg, privateKey } = changes.key ?? key();
    const now = Math.floor(clock.now().getTime() / 1000);
    const payload = {
      iss: issuer,
      jti: randomBytes(12).toString('base64url'),
      iat: now,
      ...claims,
      ...changes.claims,
    };
    return new SignJWT(JSON.parse(JSON.stringify(payload)))
      .setProtectedHeader({ alg, typ, kid: keyId, ...changes.header } as never)
      .sign(privateKey);
  }

  return {
    issuer,
    fetches: () => fetches,
    keySet,
    key,
    async rotate(alg = 'ES256', keepOld = false) {
      published = [await newProviderKey(alg), ...(keepOld ? published : [])];
      return key();
    },
    grant(audience, changes) {
      const subject = randomBytes(8).toString('hex');
      return sign(
        'oauth-id-jag+jwt',
        {
          sub: subject,
          aud: audience,
          client_id: 'assistant',
          exp: Math.floor(clock.now().getTime() / 1000) + LIFETIME_S,
          email: `${subject}@example.com`,
          email_verified: true,
        },
        changes,
      );
    },
    event(audience, typ, changes) {
      const events = { 'https://schemas.workos.com/events/agent/auth/identity/assertion/revoked': {} };
      return sign(typ, { aud: audience, events }, changes);
    },
  };
}
