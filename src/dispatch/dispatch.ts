import type { Knex } from 'knex';
import type { Clock } from '../platform/clock.ts';
import { UnknownMasterKeyError } from '../platform/keyring.ts';
import type { JobRequest, Jobs, QueueName } from '../platform/jobs/index.ts';
import type { Logger } from '../platform/logger.ts';
import { OutboundFault, type OutboundHttp } from '../platform/outbound-http/index.ts';
import { repeatedly } from '../platform/repeatedly.ts';
import { isRowFault, reasonOf } from '../platform/row-fault.ts';
import { isSlow, storable, type Attempt } from './attempt-state.ts';

/** How many endpoints one process sends to at once. */
const ENDPOINTS_AT_ONCE = 64;
/** How many requests one endpoint gets at once. */
const REQUESTS_AT_ONCE = 10;
/** Read and recorded at once for an endpoint that answers quickly; for another one, as many as it gets at once. */
const DELIVERIES_AT_ONCE = 50;
/** After so many deliveries an endpoint lets others go first. */
const DELIVERIES_A_TURN = 200;
const LOOKED_FOR_AT_ONCE = 500;

/** What is sent by HTTP POST. */
export interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Made<Delivery> {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
}

/** Nothing can be sent to an endpoint as it is: that counts as a failed attempt, and is tried again as late as after one. */
export class EndpointFault extends Error {}

/** Opens what an endpoint is sent with. @throws EndpointFault when it is damaged; UnknownMasterKeyError */
export function opened<Secret>(open: () => Secret): Secret {
  try {
    return open();
  } catch (error) {
    // Another node may have the key: the delivery is left to it.
    if (error instanceof UnknownMasterKeyError) throw error;
    throw new EndpointFault('The secret of the endpoint cannot be opened.', { cause: error });
  }
}

/** Endpoints, and deliveries that wait for them: each endpoint has a key. */
export interface Dispatched<Endpoint extends { readonly slow: boolean }, Delivery> {
  readonly queue: QueueName;
  /** An endpoint that may be sent to. */
  find(key: string): Promise<Endpoint | undefined>;
  /** Deliveries whose time has come, the oldest first. */
  listDue(key: string, limit: number): Promise<readonly Delivery[]>;
  /** Endpoints for which there are such deliveries, by their keys, behind one of them. */
  listDueEndpoints(after: string, limit: number): Promise<readonly JobRequest[]>;
  /** @returns what makes the requests to an endpoint; undefined when nothing may be sent to it any more */
  prepare(endpoint: Endpoint): (delivery: Delivery, attemptedAt: Date) => Promise<Sent | undefined>;
  /** Records what came of attempts. @returns how the endpoint is doing now */
  record(endpoint: Endpoint, made: readonly Made<Delivery>[]): Promise<{ readonly slow: boolean }>;
  /** Ends a delivery that cannot go on, so that it does not hold up others. @param reason in words */
  giveUp(delivery: Delivery, reason: string): Promise<void>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly jobs: Jobs;
  readonly outbound: OutboundHttp;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Sends what is due. The queue of jobs says which endpoints have anything to be sent, and gives each of them to one worker
 * of one process at a time; what is due is decided by the rows of the deliveries and the clock. A look for endpoints once a
 * second brings those whose retry is due.
 * @returns stops: requests under way get 3 s to end
 */
export async function startDispatch<Endpoint extends { readonly slow: boolean }, Delivery>(
  { knex, jobs, outbound, clock, logger }: Dependencies,
  { queue, find, listDue, listDueEndpoints, prepare, record, giveUp }: Dispatched<Endpoint, Delivery>,
): Promise<{ stop(): Promise<void> }> {
  /** Sends to one endpoint what is due, for its turn; for the rest the endpoint queues again, behind others. */
  async function serve(key: string, signal: AbortSignal): Promise<void> {
    let slow = false;
    for (let sent = 0; sent < DELIVERIES_A_TURN && !slow;) {
      const endpoint = await find(key);
      if (!endpoint) return;
      const due = await listDue(key, endpoint.slow ? REQUESTS_AT_ONCE : DELIVERIES_AT_ONCE);
      if (due.length === 0) return;
      sent += due.length;
      ({ slow } = await send(key, endpoint, due, signal));
    }
    await jobs.send(knex, queue, [{ key, slow }]);
  }

  /** Makes one attempt at each of some deliveries until one is slow, and records what came of them. */
  async function send(key: string, endpoint: Endpoint, due: readonly Delivery[], signal: AbortSignal) {
    const toSend = prepared(endpoint);
    const made: Made<Delivery>[] = [];
    const waiting = due.values();
    const sending = async () => {
      for (const delivery of waiting) {
        const attemptedAt = clock.now();
        const sent = await built(() => toSend(delivery, attemptedAt), key, delivery);
        if (sent === 'given up') continue;
        if (!sent) return;
        const attempt =
          sent instanceof EndpointFault
            ? unsent(attemptedAt, sent.message)
            : await attemptOf(key, sent, attemptedAt, signal);
        made.push({ delivery, attempt });
        if (made.some((each) => isSlow(each.attempt))) return;
      }
    };
    const settled = await Promise.allSettled(Array.from({ length: REQUESTS_AT_ONCE }, sending));
    const health = await recorded(endpoint, made, key);
    const broken = settled.find((each) => each.status === 'rejected');
    if (broken) throw broken.reason;
    return health;
  }

  function prepared(endpoint: Endpoint): ReturnType<typeof prepare> {
    try {
      return prepare(endpoint);
    } catch (error) {
      return () => Promise.reject(error as Error);
    }
  }

  /** The request of a delivery. One that none can be made of is given up: those behind it go on. */
  async function built(
    build: () => Promise<Sent | undefined>,
    key: string,
    delivery: Delivery,
  ): Promise<Sent | EndpointFault | 'given up' | undefined> {
    try {
      const sent = await build();
      // Throws where a header or the address is none, which otherwise would count as the endpoint's failure.
      if (sent) new Request(sent.url, { method: 'POST', headers: sent.headers });
      return sent;
    } catch (error) {
      if (error instanceof EndpointFault) {
        logger.error({ err: error, queue, key }, 'nothing can be sent to an endpoint');
        return error;
      }
      if (!isRowFault(error)) throw error;
      await setAside(key, delivery, error);
      return 'given up';
    }
  }

  /** Records attempts together, or one by one where one of them cannot be recorded: that one is given up. */
  async function recorded(endpoint: Endpoint, made: readonly Made<Delivery>[], key: string) {
    try {
      return await record(endpoint, made);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      let health = { slow: false };
      for (const each of made) {
        try {
          health = await record(endpoint, [each]);
        } catch (fault) {
          if (!isRowFault(fault)) throw fault;
          await setAside(key, each.delivery, fault);
        }
      }
      return health;
    }
  }

  async function setAside(key: string, delivery: Delivery, error: unknown): Promise<void> {
    logger.error({ err: error, queue, key }, 'a delivery cannot be made and is given up');
    await giveUp(delivery, `It cannot be sent: ${reasonOf(error)}`);
  }

  async function attemptOf(
    key: string,
    { url, headers, body }: Sent,
    attemptedAt: Date,
    signal: AbortSignal,
  ): Promise<Attempt> {
    const duration = () => Math.max(clock.now().getTime() - attemptedAt.getTime(), 0);
    try {
      const { status, retryAfter, text } = await outbound.post(url, { headers, body, signal });
      return { attemptedAt, durationMs: duration(), status, retryAfter, body: storable(text), fault: null };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof OutboundFault)) {
        logger.warn({ err: error, queue, key }, 'a request could not be sent');
      }
      const fault = error instanceof OutboundFault ? error.message : 'The request failed.';
      return { ...unsent(attemptedAt, fault), durationMs: duration() };
    }
  }

  const working = await jobs.start(queue, ENDPOINTS_AT_ONCE, serve);
  let seen = '';
  const looking = repeatedly(
    async () => {
      const due = await listDueEndpoints(seen, LOOKED_FOR_AT_ONCE);
      await jobs.send(knex, queue, due);
      const more = due.length === LOOKED_FOR_AT_ONCE;
      seen = more ? due.at(-1)!.key : '';
      return more;
    },
    (error) => logger.debug({ err: error, queue }, 'the look for due deliveries was put off'),
  );
  return {
    async stop() {
      await looking.stop();
      await working.stop();
      outbound.close();
    },
  };
}

/** An attempt that nothing came back from. */
function unsent(attemptedAt: Date, fault: string): Attempt {
  return { attemptedAt, durationMs: 0, status: null, retryAfter: undefined, body: null, fault };
}
