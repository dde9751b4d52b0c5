import { Gauge, type Registry } from 'prom-client';
import type { Events } from '../events/events.ts';
import type { Mails } from '../mails/mails.ts';
import type { Payments } from '../platform/payments/index.ts';
import type { SecurityEvents } from '../security-events/security-events.ts';

/** What sets things aside that cannot be published, sent or worked on. */
export interface SetAsideSources {
  readonly events: Pick<Events, 'setAside'>;
  readonly mails: Pick<Mails, 'setAside'>;
  readonly securityEvents: Pick<SecurityEvents, 'setAside'>;
  readonly payments: Pick<Payments, 'setAside'>;
}

/** Shows how much is set aside. What cannot be counted now keeps its value. */
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
    help: 'What is set aside because it cannot be published, sent or worked on, by where it comes from',
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
