import type { Knex } from 'knex';
import type { Clock } from '../../platform/clock.ts';
import { UnknownMasterKeyError } from '../../platform/keyring.ts';
import type { JobRequest, Jobs, QueueName } from '../../platform/jobs/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { OutboundFault, type OutboundHttp } from '../../platform/outbound-http/index.ts';
import { startPeriodicTask } from '../../platform/periodic-task.ts';
import { isRowFault, reasonOf } from '../../platform/row-fault.ts';
import { isSlow, storable, withoutResponse, type AttemptResult } from './attempt-state.ts';

/** How many endpoints one process sends to at once. */
const CONCURRENT_ENDPOINTS = 64;
/** How many requests one endpoint receives at once. */
const CONCURRENT_REQUESTS = 10;
/** How many deliveries are read and recorded at once; for a slow endpoint, only as many as it receives at once. */
const BATCH_SIZE = 50;
/** After this many deliveries, other endpoints are served first. */
const DELIVERIES_PER_JOB = 200;
const DUE_ENDPOINTS_PER_QUERY = 500;

/** A request that is sent by HTTP POST. */
export interface EndpointRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A delivery with the result of an attempt. */
export interface Attempted<Delivery> {
  readonly delivery: Delivery;
  readonly result: AttemptResult;
}

/** The endpoint's configuration makes requests impossible. This counts as a failed attempt and is retried like one. */
export class EndpointError extends Error {}

/** Opens a sealed secret of an endpoint. @throws EndpointError if it is damaged; UnknownMasterKeyError */
export function orEndpointError<Secret>(open: () => Secret): Secret {
  try {
    return open();
  } catch (error) {
    // Another node may have the master key and make the delivery.
    if (error instanceof UnknownMasterKeyError) throw error;
    throw new EndpointError('The secret of the endpoint cannot be opened.', { cause: error });
  }
}

/** Deliveries that wait to be sent, and their endpoints, each of which has a key. */
export interface DeliveryQueue<Endpoint extends { readonly slow: boolean }, Delivery> {
  readonly name: QueueName;
  /** An endpoint that may receive requests. */
  findEndpoint(key: string): Promise<Endpoint | undefined>;
  /** The due deliveries to an endpoint, oldest first. */
  listDue(key: string, limit: number): Promise<readonly Delivery[]>;
  /** The endpoints with due deliveries, ordered by key, after a key. */
  listDueEndpoints(after: string, limit: number): Promise<readonly JobRequest[]>;
  /** @returns makes the requests to an endpoint; it returns undefined when the endpoint may no longer receive any */
  prepare(
    endpoint: Endpoint,
  ): (delivery: Delivery, attemptedAt: Date) => Promise<EndpointRequest | undefined>;
  /** Records attempts. @returns whether the endpoint is slow now */
  record(endpoint: Endpoint, attempted: readonly Attempted<Delivery>[]): Promise<{ readonly slow: boolean }>;
  /** Ends a delivery that cannot succeed, so that it does not block others. @param reason in words */
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
 * Sends the deliveries that are due. The job queue names the endpoints with deliveries and assigns each of them to one
 * worker of one process at a time; the rows of the deliveries and the clock decide which ones are due. A query once a
 * second finds the endpoints with due retries.
 * @returns stops it: requests in progress have 3 s to end
 */
export async function startDeliveryQueue<Endpoint extends { readonly slow: boolean }, Delivery>(
  { knex, jobs, outbound, clock, logger }: Dependencies,
  deliveryQueue: DeliveryQueue<Endpoint, Delivery>,
): Promise<{ stop(): Promise<void> }> {
  const { name: queue, findEndpoint, listDue, listDueEndpoints, prepare, record, giveUp } = deliveryQueue;

  /** Sends deliveries to one endpoint. If some remain, the endpoint is queued again, after others. */
  async function serve(key: string, signal: AbortSignal): Promise<void> {
    let slow = false;
    for (let sent = 0; sent < DELIVERIES_PER_JOB && !slow;) {
      const endpoint = await findEndpoint(key);
      if (!endpoint) return;
      const due = await listDue(key, endpoint.slow ? CONCURRENT_REQUESTS : BATCH_SIZE);
      if (due.length === 0) return;
      sent += due.length;
      ({ slow } = await send(key, endpoint, due, signal));
    }
    await jobs.send(knex, queue, [{ key, slow }]);
  }

  /** Attempts each of some deliveries once, until one is slow, and records the results. */
  async function send(key: string, endpoint: Endpoint, due: readonly Delivery[], signal: AbortSignal) {
    const makeRequest = requestsTo(endpoint);
    const attempted: Attempted<Delivery>[] = [];
    const remaining = due.values();
    const worker = async () => {
      for (const delivery of remaining) {
        const attemptedAt = clock.now();
        const request = await build(() => makeRequest(delivery, attemptedAt), key, delivery);
        if (request === 'given up') continue;
        if (!request) return;
        const result =
          request instanceof EndpointError
            ? withoutResponse(attemptedAt, request.message)
            : await attempt(key, request, attemptedAt, signal);
        attempted.push({ delivery, result });
        if (attempted.some((each) => isSlow(each.result))) return;
      }
    };
    const settled = await Promise.allSettled(Array.from({ length: CONCURRENT_REQUESTS }, worker));
    const health = await recordEach(endpoint, attempted, key);
    const failure = settled.find((each) => each.status === 'rejected');
    if (failure) throw failure.reason;
    return health;
  }

  function requestsTo(endpoint: Endpoint): ReturnType<typeof prepare> {
    try {
      return prepare(endpoint);
    } catch (error) {
      return () => Promise.reject(error as Error);
    }
  }

  /** Makes the request of a delivery. If that is impossible, this delivery alone is given up. */
  async function build(
    makeRequest: () => Promise<EndpointRequest | undefined>,
    key: string,
    delivery: Delivery,
  ): Promise<EndpointRequest | EndpointError | 'given up' | undefined> {
    try {
      const request = await makeRequest();
      // Throws for an invalid header or URL, which otherwise would count as a failure of the endpoint.
      if (request) new Request(request.url, { method: 'POST', headers: request.headers });
      return request;
    } catch (error) {
      if (error instanceof EndpointError) {
        logger.error({ err: error, queue, key }, 'no request to an endpoint is possible');
        return error;
      }
      if (!isRowFault(error)) throw error;
      await setAside(key, delivery, error);
      return 'given up';
    }
  }

  /** Records attempts together, or one by one if one of them cannot be recorded: that one is given up. */
  async function recordEach(endpoint: Endpoint, attempted: readonly Attempted<Delivery>[], key: string) {
    try {
      return await record(endpoint, attempted);
    } catch (error) {
      if (!isRowFault(error)) throw error;
      let health = { slow: false };
      for (const each of attempted) {
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
    logger.error({ err: error, queue, key }, 'a delivery is impossible and is given up');
    await giveUp(delivery, `It cannot be sent: ${reasonOf(error)}`);
  }

  async function attempt(
    key: string,
    { url, headers, body }: EndpointRequest,
    attemptedAt: Date,
    signal: AbortSignal,
  ): Promise<AttemptResult> {
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
      return withoutResponse(attemptedAt, fault, duration());
    }
  }

  const worker = await jobs.start(queue, CONCURRENT_ENDPOINTS, serve);
  let lastKey = '';
  const retries = startPeriodicTask(
    async () => {
      const due = await listDueEndpoints(lastKey, DUE_ENDPOINTS_PER_QUERY);
      await jobs.send(knex, queue, due);
      const more = due.length === DUE_ENDPOINTS_PER_QUERY;
      lastKey = more ? due.at(-1)!.key : '';
      return more;
    },
    (error) => logger.debug({ err: error, queue }, 'the query for due deliveries failed and is repeated'),
  );
  return {
    async stop() {
      await retries.stop();
      await worker.stop();
      outbound.close();
    },
  };
}
