import { inject } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { createTestDatabase } from '../support/database.ts';
import { startTestService } from '../support/service.ts';
import { DatabaseProxy } from './database-proxy.ts';

/**
 * Starts a service with a database behind a proxy, until the end of the file.
 * @param deadlineMs the timeout of a request; that of statements is the default of the service
 */
export async function startServiceBehindProxy(deadlineMs: number) {
  const { host, port, user } = inject('postgres');
  const proxy = await DatabaseProxy.open(`${host}/.s.PGSQL.${port}`);
  atFileEnd(() => proxy.close());
  const database = new URL(await createTestDatabase()).pathname.slice(1);
  const DATABASE_URL = `postgresql://${user}@127.0.0.1:${proxy.port}/${database}`;
  const { api, clock } = await startTestService({ DATABASE_URL }, { deadlineMs, statementTimeoutMs: 2_000 });
  return { api, clock, proxy };
}
