import { Gauge, type Registry } from 'prom-client';
import type { Events } from '../events/events.ts';
import type { PaymentProcessor } from '../../platform/payments/index.ts';

/** The parts that set aside what cannot be published, sent or processed. */
export interface SetAsideSources {
  readonly events: Pick<Events, 'setAside'>;
  readonly mails: { setAside(): Promise<number> };
  readonly securityEvents: { setAside(): Promise<number> };
  readonly payments: Pick<PaymentProcessor, 'setAside'>;
}

/** Registers the number of items that are set aside. A count that fails keeps the previous value. */
export function showSetAside(registry: Registry, sources: SetAsideSources): void {
  const { events, mails, securityEvents, payments } = sources;
  const counts = async () =>
    [
      events.setAside().then((count) => ({ events: count.events, broker: count.broker })),
      mails.setAside().then((count) => ({ mails: count })),
      securityEvents.setAside().then((count) => ({ security_events: count })),
      payments.setAside().then((count) => ({ test_processor: count })),
    ] satisfies Promise<Record<string, number>>[];
  new Gauge({
    name: 'latchkey_set_aside_events',
    help: 'Items set aside because they cannot be published, sent or processed, by their source',
    labelNames: ['from'],
    registers: [registry],
    async collect() {
      for (const settled of await Promise.allSettled(await counts())) {
        if (settled.status === 'rejected') continue;
        for (const [from, count] of Object.entries(settled.value)) this.set({ from }, count);
      }
    },
  });
}
