import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Events } from '../events/events.ts';
import type { Limits } from '../limits/limits.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { Database } from '../../platform/database/index.ts';
import { showSetAside, type SetAsideSources } from './set-aside.ts';

/** In seconds: from the duration of a verification to the longest time that clients wait. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64];

/** Metrics for operators, in the text format of Prometheus. */
export interface Metrics {
  /** Seconds on a monotonic clock, for `observeRequest`. */
  now(): number;
  /**
   * Records a response.
   * @param operation the operationId; `mcp` for MCP messages that call no tool, `none` for other requests
   *   that are not operations of the contract
   * @param startedAt when the request arrived, from `now`
   */
  observeRequest(operation: string, status: number, startedAt: number): void;
  /** Records how many sessions one statement looked up. */
  observeBatch(size: number): void;
  /** Counts an event of the payment processor by its outcome. */
  countPaymentEvent(outcome: string): void;
  /** Registers the sources of metrics that are read when they are scraped. */
  watch(sources: Sources): void;
  /** The same for events and their recipients. */
  watchEvents(sources: EventSources): void;
  /** The same for what is set aside. */
  watchSetAside(sources: SetAsideSources): void;
  readonly contentType: string;
  /** The current values of all metrics. */
  text(): Promise<string>;
}

interface Sources {
  readonly database: Pick<Database, 'connections'>;
  readonly passwords: Passwords;
  readonly limits: Limits;
  readonly skewMs: () => number;
}

interface EventSources {
  readonly events: Pick<Events, 'lag'>;
  readonly realtime: { connected(): { readonly streams: number; readonly mqtt: number } };
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const latency = new Histogram({
    name: 'latchkey_http_request_duration_seconds',
    help: 'Time from the head of a request to its response',
    labelNames: ['operation', 'status'],
    buckets: LATENCY_BUCKETS,
    registers,
  });
  const batches = new Histogram({
    name: 'latchkey_session_lookup_batch_size',
    help: 'Sessions that one statement looked up',
    buckets: BATCH_BUCKETS,
    registers,
  });
  const paymentEvents = new Counter({
    name: 'latchkey_payment_notices_total',
    help: 'Events of the payment processor by their outcome',
    labelNames: ['outcome'],
    registers,
  });
  const observers = new Map<string, (seconds: number) => void>();
  let watchesProcess = false;

  return {
    now: () => performance.now() / 1000,

    observeRequest(operation, status, startedAt) {
      const key = operation + status;
      let observe = observers.get(key);
      if (!observe) {
        const labeled = latency.labels(operation, String(status));
        observe = (seconds) => labeled.observe(seconds);
        observers.set(key, observe);
      }
      observe(performance.now() / 1000 - startedAt);
    },

    observeBatch: (size) => batches.observe(size),

    countPaymentEvent: (outcome) => paymentEvents.inc({ outcome }),

    watch({ database, passwords, limits, skewMs }) {
      const gauge = (name: string, help: string, read: () => Record<string, number>) =>
        new Gauge({
          name,
          help,
          labelNames: ['state'],
          registers,
          collect() {
            for (const [state, value] of Object.entries(read())) this.set({ state }, value);
          },
        });
      const counter = (name: string, help: string, read: () => number) =>
        new Counter({
          name,
          help,
          registers,
          collect() {
            this.reset();
            this.inc(read());
          },
        });
      gauge('latchkey_password_hashes', 'Passwords that are being hashed or wait for it', () => {
        const { active, waiting } = passwords.load();
        return { active, waiting };
      });
      counter(
        'latchkey_password_hashes_refused_total',
        'Passwords that were refused because too many were waiting',
        () => passwords.load().refused,
      );
      counter('latchkey_rate_limited_total', 'Requests that were refused by a rate limit', () =>
        limits.refused(),
      );
      new Gauge({
        name: 'latchkey_clock_skew_seconds',
        help: "How far this machine's clock is ahead of the database's",
        registers,
        collect() {
          this.set(skewMs() / 1000);
        },
      });
      gauge('latchkey_database_connections', 'Connections of the shared pool', () => ({
        ...database.connections().shared,
      }));
      gauge('latchkey_lookup_connections', 'Connections for session lookups and health checks', () => ({
        ...database.connections().own,
      }));
    },

    watchEvents({ events, realtime }) {
      new Gauge({
        name: 'latchkey_event_clients',
        help: 'Clients that follow events on this node',
        labelNames: ['protocol'],
        registers,
        collect() {
          const { streams, mqtt } = realtime.connected();
          this.set({ protocol: 'sse' }, streams);
          this.set({ protocol: 'mqtt' }, mqtt);
        },
      });
      const brokerLag = new Gauge({
        name: 'latchkey_broker_lag_events',
        help: 'Published events that the broker does not have yet',
        registers,
      });
      new Gauge({
        name: 'latchkey_outbox_lag_seconds',
        help: 'Age of the oldest event that is not published yet',
        registers,
        async collect() {
          // Without the database the previous values stay, and the other metrics are still shown.
          const lag = await events.lag().catch(() => undefined);
          if (!lag) return;
          this.set(lag.unpublishedMs / 1000);
          brokerLag.set(lag.brokerEvents);
        },
      });
    },

    watchSetAside: (sources) => showSetAside(registry, sources),

    contentType: registry.contentType,

    text() {
      // Started at the first scrape, because it observes garbage collection and the event loop.
      if (!watchesProcess) collectDefaultMetrics({ register: registry });
      watchesProcess = true;
      return registry.metrics();
    },
  };
}
