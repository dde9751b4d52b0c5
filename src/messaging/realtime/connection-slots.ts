import { ApiError } from '../../foundation/errors/api-error.ts';
import { addressBlock, type Client } from '../../platform/address.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from '../../platform/concurrency-limit.ts';

const STREAMS_PER_TOKEN = 10;
/** A developer can create any number of tokens. */
const STREAMS_PER_DEVELOPER = 100;
const CONNECTIONS_PER_SESSION = 5;
/** Many users may share an address. */
const MQTT_CONNECTIONS_PER_ADDRESS = 200;
const RETRY_AFTER_SECONDS = 10;

type Release = () => void;

/**
 * Limits the connections that stay open: for this node, and for each token, developer, session and address. All methods
 * throw ApiError TOO_MANY_REQUESTS or SERVICE_UNAVAILABLE, and return a function that releases the slot.
 */
export interface ConnectionSlots {
  acquireApplicationStream(token: string, developerId: string): Release;
  acquireSessionStream(sessionDigest: Buffer): Release;
  /** For an MQTT client that has yet to authenticate. */
  acquireMqtt(client: Client): Release;
  /** For an MQTT client that has a slot and authenticates with a session. */
  acquireSession(sessionDigest: Buffer): Release;
  /** Refuses all new connections. */
  close(): void;
}

/** @param capacity how many connections this node allows */
export function createConnectionSlots(capacity: number): ConnectionSlots {
  let isClosed = false;
  const node = createConcurrencyLimit({ limit: capacity, refusal: nodeFull });
  const tokens = limitPerKey(STREAMS_PER_TOKEN);
  const developers = limitPerKey(STREAMS_PER_DEVELOPER);
  const sessions = limitPerKey(CONNECTIONS_PER_SESSION);
  const addresses = limitPerKey(MQTT_CONNECTIONS_PER_ADDRESS);

  function acquire(...keys: readonly (readonly [limit: ConcurrencyLimit, key: string])[]): Release {
    if (isClosed) throw unavailable('This node is stopping.', 1);
    const acquired = [node.acquireNow('')];
    const release = () => acquired.forEach((each) => each());
    try {
      for (const [limit, key] of keys) acquired.push(limit.acquireNow(key));
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  return {
    acquireApplicationStream: (token, developerId) => acquire([tokens, token], [developers, developerId]),
    acquireSessionStream: (sessionDigest) => acquire([sessions, sessionDigest.toString('hex')]),
    acquireMqtt: ({ address }) => acquire([addresses, addressBlock(address)]),
    acquireSession: (sessionDigest) => sessions.acquireNow(sessionDigest.toString('hex')),
    close: () => void (isClosed = true),
  };
}

function limitPerKey(limit: number): ConcurrencyLimit {
  const refusal = () =>
    new ApiError('TOO_MANY_REQUESTS', {
      detail: `At most ${limit} connections may be open at a time.`,
      retryAfter: RETRY_AFTER_SECONDS,
    });
  return createConcurrencyLimit({ limitPerKey: limit, refusal });
}

function nodeFull(): ApiError {
  return unavailable('This node cannot accept another connection.', RETRY_AFTER_SECONDS);
}

function unavailable(detail: string, retryAfter: number): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', { detail, retryAfter });
}
