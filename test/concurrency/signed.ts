import { createHmac } from 'node:crypto';
import { signed } from '../support/fixtures.ts';

/** An application and the secret that signs for it. */
export interface Credentials {
  readonly app_id: string;
  readonly secret: string;
}

/** The v2 operations with signatures, by the last part of their path. */
export type V2Operation = 'login' | 'login-license' | 'verify-session' | 'logout';

export const V2_OPERATIONS = ['login', 'login-license', 'verify-session', 'logout'] as const;

export type SignatureHeaders = Record<'x-signature' | 'x-timestamp', string>;

/** The hexadecimal HMAC-SHA-256 of a body. */
export function hmac(secret: string, body: string | Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/**
 * A signed request to a v2 operation.
 * @param body an object gets the application's id, a string is signed unchanged
 * @param now the service's time in Unix milliseconds
 * @returns the body and its headers
 */
export function sign(
  app: Credentials,
  body: object | string,
  now = Date.now(),
): { text: string; headers: SignatureHeaders } {
  const whole = typeof body === 'string' ? body : { app_id: app.app_id, ...body };
  const [text, headers] = signed(app, whole, { at: new Date(now) });
  return { text, headers: headers as SignatureHeaders };
}
