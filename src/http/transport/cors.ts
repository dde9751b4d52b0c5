/** Headers of an error that a program in a browser needs, to know when to retry and what access to request. */
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
 * Lets pages of any origin read a response. This is safe because access requires a token, never a cookie.
 * @param more headers that they may read besides those of an error
 */
export function openToOrigins(...more: readonly string[]): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': [...EXPOSED, ...more].join(', '),
  };
}
