/** The configuration of Stripe. */
export interface StripeSettings {
  /** `sk_…` or `rk_…`; the prefix says whether it is of live or test mode. */
  readonly secretKey: string;
  /** The signing secrets of our webhook endpoint; a signature by any of them is valid. */
  readonly webhookSecrets: readonly string[];
  /** Undefined for Stripe's own URL. */
  readonly apiUrl: string | undefined;
  /** Undefined if machine payments are off. */
  readonly networkId: string | undefined;
}
