import { createHash, createHmac } from 'node:crypto';

/** What a version 2 signature covers besides the nonce and the response. */
export interface BoundTo {
  readonly operation: string;
  /** The body of the request, unchanged. */
  readonly body: string | Uint8Array;
}

/**
 * The version 1 signature of a response: hex HMAC-SHA-256 with the secret over `nonce + "." + JCS(response without
 * signature)`. It repeats the rule, so that the service's code does not check itself.
 */
export function signatureOf(app: { readonly secret: string }, nonce: string, response: object): string {
  return hmac(app.secret, `${nonce}.${canonicalWithoutSignature(response)}`);
}

/** The version 2 signature of a response. */
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

/** The version 2 `x-signature` of a request. */
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

/** RFC 8785 JSON for our responses: members in the order of their UTF-16 code units, no white space. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
