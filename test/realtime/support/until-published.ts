import { expect } from 'vitest';
import { connectTo } from '../../support/database.ts';
import type { TestService } from '../../support/service.ts';

/** Waits until all written events are published and the service has read them. */
export async function untilPublished({ services, databaseUrl }: TestService): Promise<void> {
  const database = await connectTo(databaseUrl);
  const waiting = async () => {
    const { rows } = await database.query<{ count: number }>(
      'select count(*)::int as count from events where position is null',
    );
    return rows[0]!.count + (await services.events.lastPosition()) - services.relay.position();
  };
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
}
