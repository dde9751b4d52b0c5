import type { SignedEvent } from '../conformance/support/payments.ts';
import { startStripeAlone } from '../conformance/support/stripe-harness.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { ADMIN_TOKEN } from '../support/service.ts';
import type { Opened } from '../support/billing.ts';
import type { LightResponse, LightClient } from './load.ts';
import { startTwoProcesses, type TwoProcesses } from './two-processes.ts';

export const WEBHOOK = '/api/v2/payments/webhook';

/** The machine's clock, slightly ahead: Stripe counts in seconds, and tests cannot wait for the next one. */
class SteppingClock implements Clock {
  #aheadMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }

  step(): void {
    this.#aheadMs += 1_000;
  }

  reset(): void {
    this.#aheadMs = 0;
  }
}

/** Two processes of the service with a Stripe of the test. */
export interface StripeProcesses extends TwoProcesses {
  readonly stripe: Awaited<ReturnType<typeof startStripeAlone>>;
  readonly clock: SteppingClock;
  /** Sends events to both processes alternately. */
  readonly send: (turn: number, event: SignedEvent) => Promise<LightResponse>;
}

/** @param Client as in `startTwoProcesses` */
export async function startStripeProcesses(Client?: typeof LightClient): Promise<StripeProcesses> {
  const clock = new SteppingClock();
  const stripe = await startStripeAlone(clock);
  const { secretKey, webhookSecrets, apiUrl } = stripe.settings;
  const settings = {
    ADMIN_TOKEN,
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecrets.join(','),
    STRIPE_API_URL: apiUrl!,
  };
  const two = await startTwoProcesses(settings, Client);
  return {
    ...two,
    stripe,
    clock,
    send: (turn, { body, headers }) =>
      two.client(turn).post(WEBHOOK, body.toString(), { headers: headers as Record<string, string> }),
  };
}

/** Stripe's reference of a checkout. */
export const sessionOf = ({ url }: Opened): string => new URL(url).pathname.split('/').at(-1)!;
