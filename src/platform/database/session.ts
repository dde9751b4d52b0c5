import type pg from 'pg';

/** Settings by name, in the form of PostgreSQL. */
export type SessionSettings = Readonly<Record<string, string>>;

// The server's limits are shorter than ours by this much, so that only a silent server reaches ours.
const SERVER_FIRST_MS = 100;
const LOCKS_FIRST_MS = 200;
const IDLE_TRANSACTION_MS = 10_000;

/** How often a backend checks that its client is still connected, so that none outlives its connection by more. */
export const CHECKED_EVERY_MS = 1_000;
export const CHECK_INTERVAL = 'client_connection_check_interval';

/** Formats of values and transaction isolation: with other settings, tokens and amounts would be read wrongly. */
export const FORMAT: SessionSettings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
};

/** PgBouncer keeps the values of these settings for each client across backends. */
export const KEPT_BY_POOLERS: SessionSettings = {
  TimeZone: FORMAT['TimeZone']!,
  DateStyle: FORMAT['DateStyle']!,
};

/**
 * Limits that end work whose caller has given up.
 * @param statementTimeoutMs the caller's time limit of one statement; 0 for none
 */
export function limitsFor(statementTimeoutMs: number): SessionSettings {
  if (statementTimeoutMs <= 0) {
    return { statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' };
  }
  return {
    statement_timeout: String(Math.max(statementTimeoutMs - SERVER_FIRST_MS, 1)),
    // A COMMIT is not subject to statement_timeout, but one with notifications waits for a lock.
    lock_timeout: String(Math.max(statementTimeoutMs - LOCKS_FIRST_MS, 1)),
    idle_in_transaction_session_timeout: String(Math.max(IDLE_TRANSACTION_MS, statementTimeoutMs)),
  };
}

/** The identity of a session at the server. */
export interface Backend {
  readonly pid: number;
  /** By the server's clock, in PostgreSQL's own form. */
  readonly seenAt: string;
}

/**
 * Applies the settings of a session. With a statement, not in the startup message, which poolers ignore and the address
 * or the environment can override.
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
