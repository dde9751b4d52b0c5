import { Agent, request, type OutgoingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bodyOf } from '../../support/exchange.ts';
import { Api, type ApiResponse, type CallOptions } from '../../support/api.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import { createTestDatabase } from '../../support/database.ts';
import { spawnService, temporaryFolder } from '../../support/processes.ts';
import { ADMIN_TOKEN, MASTER_KEY, readMails, UNLIMITED } from '../../support/service.ts';
import { openPool } from './pool.ts';
import { prepareWatch } from './stall-watch.ts';

/** No request may hold the process for so long, in milliseconds of processor time. */
export const LIMIT_MS = 50;
/** What happens once may be garbage that is collected, or code that is compiled: a stall comes again. */
const ATTEMPTS = 4;
/** So many are sent before the probe is asked, which takes as long as they do. */
const AT_ONCE = 12;
/** Answers that are longer, in characters, are not kept. */
const LONGEST_READ = 1_000_000;
const SENT_EVERY_MS = 20;

/** Something that is sent to the service. */
export interface Attack {
  readonly name: string;
  readonly send: () => Promise<number>;
}

/** Calls a service without a look at what it answers, once it is told to. */
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

  /** Sends a request as it is. @returns the answer; of one without an end its beginning */
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
      // What is refused before its end may be cut off.
      sent.on('error', reject).end(body);
    });
  }
}

/**
 * Starts the service as a process of its own, under a probe of its event loop.
 * @param environment settings that differ
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
      // What a limit refuses does not come to what may hold the process.
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

  /** Sends something again and again. @returns for how long it holds the loop, however it is repeated */
  async function heldBy({ send }: Attack): Promise<number> {
    let least = Infinity;
    for (let attempt = 0; attempt < ATTEMPTS && least > LIMIT_MS; attempt += 1) {
      await probe.longest();
      await send();
      least = Math.min(least, await probe.longest());
    }
    return least;
  }

  return {
    api,
    clock,
    database: { knex },
    mailbox: () => readMails(join(dataDir, 'mail')),
    /** The statuses of what was sent so far. */
    seen,
    /** Sends all of them, and those again that might have held the process. @returns those that do so each time */
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
        const held = await heldBy(suspect);
        if (held > LIMIT_MS) found.push(`${suspect.name}: ${Math.round(held)} ms`);
      }
      return found;
    },
    /** Asks for the health on a connection of its own, fifty times a second. @returns ends it, and tells the statuses */
    pollHealth: () => pollHealth(new QuickApi(spawned.baseUrl)),
  };
}

export type Watched = Awaited<ReturnType<typeof startWatched>>;

function pollHealth(api: QuickApi): () => Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  let isOver = false;
  const polling = (async () => {
    while (!isOver) {
      const started = performance.now();
      statuses.add((await api.send('GET', '/health', undefined, {})).status);
      await delay(Math.max(0, SENT_EVERY_MS - (performance.now() - started)));
    }
  })();
  return async () => {
    isOver = true;
    await polling;
    return statuses;
  };
}
