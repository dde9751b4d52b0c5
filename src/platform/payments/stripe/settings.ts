/** How Stripe is reached, as configured. */
export interface StripeSettings {
  /** `sk_…` or `rk_…`; whether it is of live or of test mode is in its name. */
  readonly secretKey: string;
  /** Of our webhook endpoint; any of them will do. */
  readonly webhookSecrets: readonly string[];
  /** Undefined for Stripe's own. */
  readonly apiUrl: string | undefined;
  /** Undefined where machines cannot pay. */
  readonly networkId: string | undefined;
}
