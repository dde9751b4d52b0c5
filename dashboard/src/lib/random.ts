/** A new `Idempotency-Key`. `crypto.randomUUID` needs a secure context, which plain HTTP on a LAN is not. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
