import { expect } from 'vitest';
import type { TestService } from './service.ts';

/** Waits until all written events are published and the service has read them. */
export async function untilPublished({ services, database }: TestService): Promise<void> {
  const waiting = async () => {
    const [row] = await database.knex('events').whereNull('position').count<{ count: string }[]>();
    return Number(row!.count) + (await services.events.lastPosition()) - services.relay.position();
  };
  await expect.poll(waiting).toBe(0);
}
