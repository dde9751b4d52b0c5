/**
 * The time that oidc-provider measures by, in milliseconds: always the clock of the machine. Times of the service's
 * clock are converted for it.
 */
export function providerNow(): number {
  return Date.now();
}
