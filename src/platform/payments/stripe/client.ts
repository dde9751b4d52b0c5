import Stripe from 'stripe';
import type { StripeSettings } from './settings.ts';

/**
 * The version of Stripe's API that we speak, whatever the account's default is. It is the one that the types of the package
 * describe; another one does not compile.
 */
export const API_VERSION = '2026-10-28.endive';

/** Tokens of machines are still a preview at Stripe: only a version like this one takes them. */
export const PREVIEW_VERSION = '2026-07-29.preview';

const ANSWERED_WITHIN_MS = 8_000;
const RETRIES = 1;

/** @returns a client that gives up after two attempts */
export function createClient({ secretKey, apiUrl }: StripeSettings): Stripe {
  return new Stripe(secretKey, {
    apiVersion: API_VERSION,
    timeout: ANSWERED_WITHIN_MS,
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

/** Whether an event is written as API_VERSION has it: only the name of a version stands for changes that break. */
export function isOurVersion(version: string | null): boolean {
  return version?.split('.')[1] === API_VERSION.split('.')[1];
}
