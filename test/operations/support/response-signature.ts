import { createHmac } from 'node:crypto';

/**
 * What the signature of an answer must be: hex HMAC-SHA-256 under the secret over `nonce + "." + JCS(answer without
 * signature)`. Written down once more, so that it is not the service's own code that says it is right.
 */
export function signatureOf(app: { readonly secret: string }, nonce: string, answer: object): string {
  const { signature: _signature, ...signedPart } = answer as { signature?: string };
  return createHmac('sha256', app.secret)
    .update(`${nonce}.${canonical(signedPart)}`)
    .digest('hex');
}

/** JSON by RFC 8785, for what is in our answers: members in the order of their UTF-16 code units, no white space. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
