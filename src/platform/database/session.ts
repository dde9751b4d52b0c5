import type pg from 'pg';

/** By name, as PostgreSQL takes them. */
export type SessionSettings = Readonly<Record<string, string>>;

// By how much the server's own limits undercut ours: what is slow is canceled there, only a silent server hits ours.
const SERVER_FIRST_MS = 100;
const LOCKS_FIRST_MS = 200;
const IDLE_TRANSACTION_MS = 10_000;

/** How often a backend looks whether its client is still there, so that none outlives its connection by more. */
export const CHECKED_EVERY_MS = 1_000;
export const CHECK_INTERVAL = 'client_connection_check_interval';

/** How values are written and what a transaction sees: with others, tokens and amounts would be read wrongly. */
export const FORMAT: SessionSettings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
};

/** PgBouncer gives every client its own values of these, whatever backend it gets. */
export const KEPT_BY_POOLERS: SessionSettings = {
  TimeZone: FORMAT['TimeZone']!,
  DateStyle: FORMAT['DateStyle']!,
};

/**
 * What ends work that no caller waits for.
 * @param statementTimeoutMs how long the caller waits for one statement; 0 for as long as it likes
 */
export function limitsFor(statementTimeoutMs: number): SessionSettings {
  if (statementTimeoutMs <= 0) {
    return { statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' };
  }
  return {
    statement_timeout: String(Math.max(statementTimeoutMs - SERVER_FIRST_MS, 1)),
    // A COMMIT has no statement_timeout, but waits for a lock where it notifies.
    lock_timeout: String(Math.max(statementTimeoutMs - LOCKS_FIRST_MS, 1)),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_TRANSACTION_MS, statementTimeoutMs)),
  };
}

/** What a server knows a session by. */
export interface Backend {
  readonly pid: number;
  /** By the server's clock, in PostgreSQL's own form. */
  readonly seenAt: string;
}

/**
 * Gives a session its settings. By a statement, not in the startup message: poolers ignore what is said there, and an
 * address or the environment may replace it.
 */
export async function prepareSession(client: pg.ClientBase, settings: SessionSettings): Promise<Backend> {
  const entries = Object.entries(settings);
  const set = entries.map((_, place) => `, set_config($${2 * place + 1}, $${2 * place + 2}, false)`);
  const { rows } = await client.query<{ pid: number; seen_at: string }>(
    `select pg_backend_pid() as pid, clock_timestamp()::text as seen_at${set.join('')}`,
    entries.flat(),
  );
  return { pid: rows[0]!.pid, seenAt: rows[0]!.seen_at };
}
