import type * as Argon2 from '@node-rs/argon2';
import pg from 'pg';
import { expect, vi } from 'vitest';
import type { ApiResponse } from '../../support/api.ts';
import type { TestService } from '../../support/service.ts';

/**
 * Statements of the service's background work: heartbeats of nodes, published events, deliveries, jobs, the test
 * processor, refused logins that were collected, and the preparation of a connection in place of one that was idle or
 * old. Statements that add an event are not among them: they belong to requests.
 */
const OWN =
  /"?nodes"?|pgboss|webhook_|security_event_deliveries|"?signing_keys|"?test_|relay_positions|"?position"? >|pg_stat|relpages|pg_backend_pid/;

/** The response to a request, its statements and the number of passwords that it hashed. */
export interface Work {
  readonly statements: readonly string[];
  readonly verified: number;
  readonly hashed: number;
  readonly response: unknown;
}

/**
 * Measures requests.
 * @param argon2 the library as loaded by the service, with spies on its functions
 * @returns measures one request
 */
export function watchWork(
  { databaseUrl }: Pick<TestService, 'databaseUrl'>,
  argon2: typeof Argon2,
): (send: () => Promise<ApiResponse<object>>) => Promise<Work> {
  const database = new URL(databaseUrl).pathname.slice(1);
  const query = vi.spyOn(pg.Client.prototype, 'query');

  return async (send) => {
    const { calls, contexts } = query.mock;
    const before = calls.length;
    vi.mocked(argon2.verify).mockClear();
    vi.mocked(argon2.hash).mockClear();
    const { status, headers, body } = await send();
    const requested = calls.map(([statement], index) => ({
      client: contexts[index] as unknown as RecordedRequest['client'],
      text: typeof statement === 'string' ? statement : (statement as { text: string }).text,
      isCollected: (statement as { values?: unknown[] }).values?.includes('login.refused') ?? false,
    }));
    return {
      // Services of other files may still run in this process.
      statements: ofRequests(requested, before, database),
      verified: vi.mocked(argon2.verify).mock.calls.length,
      hashed: vi.mocked(argon2.hash).mock.calls.length,
      response: {
        status,
        body: { ...body, timestamp: '', request_id: '' },
        // RateLimit headers change from one request to the next, so values do not count.
        headers: [...headers.keys()],
        length: headers.get('content-length'),
      },
    };
  };
}

/** @throws if the requests cause different work */
export async function expectSameWork(
  workOf: (send: () => Promise<ApiResponse<object>>) => Promise<Work>,
  sends: Readonly<Record<string, () => Promise<ApiResponse<object>>>>,
  refusal: { readonly status: number; readonly code: string },
): Promise<Work> {
  const works = new Map<string, Work>();
  // A second round, because the first prepares connections and statements.
  for (let round = 0; round < 2; round += 1)
    for (const [name, send] of Object.entries(sends)) works.set(name, await workOf(send));
  const [first] = works.values();
  expect(first!.response).toMatchObject({ status: refusal.status, body: { code: refusal.code } });
  expect(first!.statements.length).toBeGreaterThan(0);
  for (const [name, work] of works) expect(work, name).toEqual(first);
  return first!;
}

interface RecordedRequest {
  readonly client: pg.Client & { readonly database: string };
  readonly text: string;
  /** Writes refused logins, which are collected for five seconds. */
  readonly isCollected: boolean;
}

/**
 * The statements of a request. Transactions of background work are left out as a whole, and so are those that began
 * before the request or ended after it.
 * @param before the number of earlier statements
 */
function ofRequests(requested: readonly RecordedRequest[], before: number, database: string): string[] {
  const kept = new Set<RecordedRequest>();
  const open = new Map<pg.Client, RecordedRequest[]>();
  const keep = (some: readonly RecordedRequest[]) => {
    if (!some.some(({ text, isCollected }) => isCollected || OWN.test(text)))
      for (const each of some) kept.add(each);
  };
  requested.forEach((each, index) => {
    if (each.client.database !== database) return;
    const transaction = open.get(each.client);
    if (/^begin/i.test(each.text)) open.set(each.client, index < before ? [] : [each]);
    else if (/^(commit|rollback)/i.test(each.text)) {
      open.delete(each.client);
      if (transaction?.length) keep([...transaction, each]);
    } else if (!transaction) {
      if (index >= before) keep([each]);
    } else if (transaction.length > 0) transaction.push(each);
  });
  return requested.filter((each) => kept.has(each)).map(({ text }) => text);
}
