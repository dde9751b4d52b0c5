import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Events } from '../events/events.ts';
import type { Limits } from '../limits/limits.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { Database } from '../platform/database/index.ts';
import type { Realtime } from '../realtime/realtime.ts';
import { showSetAside, type SetAsideSources } from './set-aside.ts';

/** From what a verification takes to what a client waits for at most, in seconds. */
const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64];

/** What an operator watches, in Prometheus' text format. */
export interface Metrics {
  /** Seconds on a clock that only goes forward: what `observeRequest` takes. */
  now(): number;
  /**
   * Notes an answer.
   * @param operation operationId; `mcp` for messages of MCP that call no tool, `none` for what else is no operation of
   *   the contract
   * @param startedAt when the request came, by `now`
   */
  observeRequest(operation: string, status: number, startedAt: number): void;
  /** Notes how many sessions one statement looked up. */
  observeBatch(size: number): void;
  /** Notes what became of a message of the payment processor. */
  countNotice(outcome: string): void;
  /** What the metrics are about that are only read when somebody looks. */
  watch(sources: Sources): void;
  /** The same, of events and who listens to them. */
  watchEvents(sources: EventSources): void;
  /** The same, of what is set aside. */
  watchSetAside(sources: SetAsideSources): void;
  readonly contentType: string;
  /** Every metric as it is now. */
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
  readonly realtime: Pick<Realtime, 'connected'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const latency = new Histogram({
    name: 'latchkey_http_request_duration_seconds',
    help: 'Time from the head of a request to its answer',
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
  const notices = new Counter({
    name: 'latchkey_payment_notices_total',
    help: 'Messages of the payment processor by what became of them',
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
        const labelled = latency.labels(operation, String(status));
        observe = (seconds) => labelled.observe(seconds);
        observers.set(key, observe);
      }
      observe(performance.now() / 1000 - startedAt);
    },

    observeBatch: (size) => batches.observe(size),

    countNotice: (outcome) => notices.inc({ outcome }),

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
      gauge('latchkey_password_hashes', 'Passwords that are hashed now or wait for it', () => {
        const { active, waiting } = passwords.load();
        return { active, waiting };
      });
      counter(
        'latchkey_password_hashes_refused_total',
        'Passwords that were refused because too many waited',
        () => passwords.load().refused,
      );
      counter('latchkey_rate_limited_total', 'Requests that were refused by a limit', () => limits.refused());
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
        help: 'Published events that the broker has not got yet',
        registers,
      });
      new Gauge({
        name: 'latchkey_outbox_lag_seconds',
        help: 'Age of the oldest event that is not published yet',
        registers,
        async collect() {
          // Without the database the values of before stand, and the other metrics are shown.
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
      // Not before somebody looks: it watches garbage collection and the event loop.
      if (!watchesProcess) collectDefaultMetrics({ register: registry });
      watchesProcess = true;
      return registry.metrics();
    },
  };
}
