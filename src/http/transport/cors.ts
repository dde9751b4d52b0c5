/** What a program in a browser must see of a refusal, to know when it may ask again, and what for. */
const EXPOSED = [
  'WWW-Authenticate',
  'X-Request-Id',
  'Retry-After',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

/**
 * Lets pages of every origin see an answer: nothing here goes by cookies, so whoever may ask has a token.
 * @param more headers that they see besides those of a refusal
 */
export function openToOrigins(...more: readonly string[]): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': [...EXPOSED, ...more].join(', '),
  };
}
