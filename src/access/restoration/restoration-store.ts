import type { Knex } from 'knex';

/** A change to the rows of some tables. */
export interface RestorationStep {
  /** The step in words, for the operator. */
  readonly what: string;
  readonly tables: readonly string[];
  readonly sql: string;
}

/** The job states before the end. */
const UNFINISHED = `state < 'completed'`;

/**
 * Data that are due to an external receiver, and may have been sent after the copy was made: they wait until an
 * operator releases them.
 */
export const PARKED: readonly RestorationStep[] = [
  {
    what: 'unpublished events are set aside',
    tables: ['events'],
    sql: `update events set fault = 'parked: the database was restored' where position is null and fault is null`,
  },
  {
    what: 'the external broker gets no earlier events',
    tables: ['relay_positions'],
    sql: `update relay_positions set position = (select position from relay_positions where name = 'log')
          where name = 'broker' and position >= 0`,
  },
  {
    what: 'deliveries of webhooks are parked',
    tables: ['webhook_deliveries'],
    sql: `update webhook_deliveries set state = 'failed', next_attempt_at = null,
            error = 'Parked: the database was restored. Replay it to send it.' where state = 'pending'`,
  },
  {
    what: 'deliveries of security events are parked',
    tables: ['security_event_deliveries'],
    sql: `update security_event_deliveries set next_attempt_at = 'infinity' where next_attempt_at < 'infinity'`,
  },
  {
    what: 'mails are parked',
    tables: [],
    sql: `update pgboss.job set state = 'created', start_after = 'infinity'
          where name = 'mails' and ${UNFINISHED} and start_after < 'infinity'`,
  },
  {
    what: 'failed mails are not retried',
    tables: ['failed_mails'],
    sql: 'update failed_mails set retry = false where retry',
  },
  {
    what: 'scheduled deliveries are deleted',
    tables: [],
    sql: `delete from pgboss.job where name <> 'mails' and ${UNFINISHED}`,
  },
];

/** Data that grant access, and may have been ended, revoked or used after the copy was made. */
export const ENDED: readonly RestorationStep[] = [
  {
    what: 'sessions of users are ended',
    tables: ['sessions'],
    sql: `update sessions set ended_at = :now, end_reason = 'ended' where ended_at is null`,
  },
  { what: 'identifiers of sessions are deleted', tables: ['session_ids'], sql: 'delete from session_ids' },
  {
    what: 'sessions of developers are ended',
    tables: ['developer_sessions', 'browser_sessions'],
    sql: 'with ended as (delete from browser_sessions) delete from developer_sessions',
  },
  {
    what: 'developers are signed out everywhere',
    tables: ['developers'],
    sql: 'update developers set sign_in_generation = sign_in_generation + 1',
  },
  {
    what: 'API tokens of developers and resellers are ended',
    tables: ['api_tokens'],
    sql: 'delete from api_tokens',
  },
  {
    what: 'grants, codes and refresh tokens of OAuth are ended',
    tables: ['oauth_records'],
    sql: 'delete from oauth_records',
  },
  { what: 'access tokens are ended', tables: ['access_tokens'], sql: 'delete from access_tokens' },
  {
    what: 'credentials of agents are ended',
    tables: ['agent_credentials'],
    sql: 'delete from agent_credentials',
  },
  {
    what: 'open claims of agents are ended',
    tables: ['agent_claims'],
    sql: `update agent_claims set rejected_at = :now, otp_digest = null, developer_id = null
          where completed_at is null and rejected_at is null`,
  },
  {
    what: 'consents to agent issuers are ended',
    tables: ['agent_delegations'],
    sql: 'delete from agent_delegations',
  },
  {
    what: 'password reset links are ended',
    tables: ['password_resets'],
    sql: 'delete from password_resets',
  },
  {
    what: 'tokens from machine payments are ended',
    tables: ['machine_payments'],
    sql: 'update machine_payments set token_digest = null, expires_at = null where token_digest is not null',
  },
  { what: 'earlier nodes are deleted', tables: ['nodes'], sql: 'delete from nodes' },
];

/** Tables whose rows are kept, with the reason. */
export const KEPT: readonly (readonly [reason: string, tables: readonly string[]])[] = [
  [
    'the data of the service itself',
    [
      'active_users',
      'agents',
      'application_keys',
      'application_usage',
      'applications',
      'audit_log',
      'bans',
      'daily_statistics',
      'devices',
      'files',
      'hourly_statistics',
      'license_count_changes',
      'license_counts',
      'license_quota_entries',
      'licenses',
      'plans',
      'reseller_ledger',
      'reseller_prices',
      'reseller_purchases',
      'reseller_sales',
      'resellers',
      'session_count_changes',
      'session_counts',
      'subscriptions',
      'users',
      'variables',
    ],
  ],
  [
    'reconciliation queries the processor, which may also repeat its messages',
    ['checkouts', 'invoices', 'payment_notices', 'payment_reversals', 'plan_subscriptions'],
  ],
  [
    'the test processor is part of the database: its payments were restored with it',
    [
      'test_checkouts',
      'test_credits',
      'test_invoices',
      'test_notices',
      'test_payments',
      'test_refunds',
      'test_subscriptions',
    ],
  ],
  [
    'endpoints and receivers are settings: only their deliveries are parked',
    ['security_event_receivers', 'webhooks'],
  ],
  ['they prevent requests from being processed twice', ['idempotency_keys', 'nonces', 'used_assertions']],
  ['their windows end within an hour', ['rate_limits']],
  ['keys of the installation: they decrypt the restored data', ['data_keys', 'signing_keys']],
  ['housekeeping finds missing and surplus contents', ['blobs']],
  ['their secrets are replaced', ['oauth_clients']],
  ['the versions of the schema', ['schema_migrations', 'schema_migrations_lock']],
];

/** @returns the number of changed rows */
export async function runStep(trx: Knex.Transaction, { sql }: RestorationStep, now: Date): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(sql, { now });
  return rowCount;
}
