import Stripe from 'stripe';
import type { StripeSettings } from './settings.ts';

/**
 * The version of Stripe's API that we use, regardless of the account's default. The types of the package describe this
 * version; another one does not compile.
 */
export const API_VERSION = '2026-10-28.endive';

/** Shared payment tokens are still a preview at Stripe: only a preview version accepts them. */
export const PREVIEW_VERSION = '2026-07-29.preview';

const TIMEOUT_MS = 8_000;
const RETRIES = 1;

/** @returns a client that gives up after two attempts */
export function createClient({ secretKey, apiUrl }: StripeSettings): Stripe {
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    timeout: TIMEOUT_MS,
    maxNetworkRetries: RETRIES,
    telemetry: false,
    ...(apiUrl !== undefined && addressOf(new URL(apiUrl))),
  });
}

function addressOf({ protocol, hostname, port }: URL): {
  readonly host: string;
  readonly port: string;
  readonly protocol: 'http' | 'https';
} {
  const tls = protocol === 'https:';
  return { host: hostname, port: port || (tls ? '443' : '80'), protocol: tls ? 'https' : 'http' };
}

/** Whether an event has the format of API_VERSION: Stripe makes breaking changes only in versions with a new name. */
export function isOurVersion(version: string | null): boolean {
  return version?.split('.')[1] === API_VERSION.split('.')[1];
}
