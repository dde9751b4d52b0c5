import { Agent, request, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf } from '../../support/exchange.ts';
import { Api, type ApiResponse, type CallOptions } from '../../support/api.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { createTestDatabase } from '../../support/database.ts';
import { spawnService, temporaryFolder } from '../../support/processes.ts';
import { ADMIN_TOKEN, MASTER_KEY, readMails, UNLIMITED } from '../../support/service.ts';
import { slowdown } from './machine-speed.ts';
import { openPool } from './pool.ts';
import { prepareWatch } from './stall-watch.ts';

/** No request may block the process for longer, in milliseconds of processor time, unless the machine is slow. */
const LIMIT_MS = 50;
/** A single stall may be garbage collection or compilation. A real one comes again. */
const ATTEMPTS = 4;
/** Requests sent before the probe is read, which takes as long as they do. */
const AT_ONCE = 12;
/** Longer responses, in characters, are not kept. */
const LONGEST_READ = 1_000_000;
const SENT_EVERY_MS = 20;

/** A request to the service. */
export interface Attack {
  readonly name: string;
  readonly send: () => Promise<number>;
}

/** A client that skips the contract check once it is quick. */
export class QuickApi extends Api {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });
  quick = false;

  override async call<Body>(
    method: string,
    path: string,
    body?: unknown,
    options: CallOptions = {},
  ): Promise<ApiResponse<Body>> {
    if (!this.quick) return super.call(method, path, body, options);
    const { token, headers } = options;
    return this.send<Body>(method, path, body as string | Uint8Array | undefined, {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    });
  }

  /** Sends a request unchanged. @returns the response; of an endless one, its start */
  send<Body = unknown>(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    headers: OutgoingHttpHeaders,
  ): Promise<ApiResponse<Body>> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(this.baseUrl);
      const options = { hostname, port, method, path, headers, agent: this.#agent };
      const sent = request(options, (response) => {
        const received = new Headers(response.headers as Record<string, string>);
        let text = '';
        const end = () =>
          resolve({
            status: response.statusCode!,
            headers: received,
            body: (text.length > LONGEST_READ ? text : bodyOf({ headers: received, text })) as Body,
          });
        if (String(received.get('content-type')).startsWith('text/event-stream')) {
          response.destroy();
          return end();
        }
        response.setEncoding('utf8');
        response.on('data', (part: string) => {
          if (text.length <= LONGEST_READ) text += part;
        });
        response.on('end', end).on('error', reject);
      });
      // The server may close the connection of a request that it refuses early.
      sent.on('error', reject).end(body);
    });
  }
}

/**
 * Starts the service in another process, with a probe of its event loop.
 * @param environment overrides settings
 */
export async function startWatched(environment: Record<string, string> = {}) {
  const dataDir = await temporaryFolder(atFileEnd);
  const databaseUrl = await createTestDatabase();
  const watch = prepareWatch(dataDir);
  const { api: spawned } = await spawnService(
    {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      MASTER_KEY,
      ADMIN_TOKEN,
      ...watch.environment,
      LOG_LEVEL: 'error',
      // A rate limit would keep requests from the code that may block.
      ...UNLIMITED,
      ...environment,
    },
    atFileEnd,
  );
  const api = new QuickApi(spawned.baseUrl);
  const probe = watch.begin();
  const knex = openPool(databaseUrl);
  atFileEnd(async () => {
    probe.end();
    await knex.destroy();
  });
  const clock = { now: () => new Date() };
  const seen = new Set<number>();

  /** Repeats a request that may block the loop. @returns the shortest time for which it did if that is too long */
  async function blockedBy({ send }: Attack): Promise<number | undefined> {
    let least = Infinity;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await probe.longest();
      await send();
      least = Math.min(least, await probe.longest());
      if (least <= LIMIT_MS * slowdown()) return undefined;
    }
    return least;
  }

  return {
    api,
    clock,
    database: { knex },
    mailbox: () => readMails(join(dataDir, 'mail')),
    /** The statuses of the responses so far. */
    seen,
    /** Sends all requests, and repeats those that may have blocked the process. @returns those that do each time */
    async stallsOf(attacks: readonly Attack[]): Promise<string[]> {
      const suspects: Attack[] = [];
      await probe.longest();
      for (let start = 0; start < attacks.length; start += AT_ONCE) {
        const some = attacks.slice(start, start + AT_ONCE);
        for (const { send } of some) seen.add(await send());
        if ((await probe.longest()) > LIMIT_MS) suspects.push(...some);
      }
      const found: string[] = [];
      for (const suspect of suspects) {
        const blocked = await blockedBy(suspect);
        if (blocked !== undefined) found.push(`${suspect.name}: ${Math.round(blocked)} ms`);
      }
      return found;
    },
    /** Polls the health endpoint fifty times a second. @returns stops it and returns the statuses */
    pollHealth: () => pollHealth(new QuickApi(spawned.baseUrl)),
  };
}

export type Watched = Awaited<ReturnType<typeof startWatched>>;

function pollHealth(api: QuickApi): () => Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  let isStopped = false;
  const polling = (async () => {
    while (!isStopped) {
      const started = performance.now();
      statuses.add((await api.send('GET', '/health', undefined, {})).status);
      await delay(Math.max(0, SENT_EVERY_MS - (performance.now() - started)));
    }
  })();
  return async () => {
    isStopped = true;
    await polling;
    return statuses;
  };
}
