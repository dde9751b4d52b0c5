import { createHash, createHmac } from 'node:crypto';

/** What a signature of version 2 covers besides the nonce and the response. */
export interface BoundTo {
  readonly operation: string;
  /** The body of the request, exactly as it was sent. */
  readonly body: string | Uint8Array;
}

/**
 * What the signature of a response must be in version 1: hex HMAC-SHA-256 under the secret over
 * `nonce + "." + JCS(response without signature)`. It repeats the rule, so that the service's own code does not check
 * itself.
 */
export function signatureOf(app: { readonly secret: string }, nonce: string, response: object): string {
  return hmac(app.secret, `${nonce}.${canonicalWithoutSignature(response)}`);
}

/** What the signature of a response must be in version 2. */
export function boundSignatureOf(
  app: { readonly secret: string },
  { operation, body }: BoundTo,
  nonce: string,
  response: object,
): string {
  const digest = createHash('sha256').update(body).digest('hex');
  const lines = ['latchkey-response-v2', operation, digest, nonce, canonicalWithoutSignature(response)];
  return hmac(app.secret, lines.join('\n'));
}

/** The `x-signature` of a request in version 2. */
export function boundRequestSignatureOf(
  app: { readonly secret: string },
  { operation, body }: BoundTo,
  timestamp: string,
): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return hmac(app.secret, ['latchkey-request-v2', operation, timestamp, digest].join('\n'));
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

function canonicalWithoutSignature(response: object): string {
  const { signature: _signature, ...signedPart } = response as { signature?: string };
  return canonical(signedPart);
}

/** JSON by RFC 8785, for what is in our responses: members in the order of their UTF-16 code units, no white space. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
