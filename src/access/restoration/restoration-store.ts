import type { Knex } from 'knex';

/** What is done to the rows of some tables. */
export interface RestorationStep {
  /** What it does, for the operator. */
  readonly what: string;
  readonly tables: readonly string[];
  readonly sql: string;
}

/** Of a job's states, those before its end. */
const UNFINISHED = `state < 'completed'`;

/** What is due to an outside receiver, and was perhaps sent after the copy was made: it waits until an operator lets it go. */
export const PARKED: readonly RestorationStep[] = [
  {
    what: 'events that were not published are set aside',
    tables: ['events'],
    sql: `update events set fault = 'parked: the database was restored' where position is null and fault is null`,
  },
  {
    what: 'the broker outside gets nothing of what was published before',
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
    what: 'mails that could not be sent are not tried again',
    tables: ['failed_mails'],
    sql: 'update failed_mails set retry = false where retry',
  },
  {
    what: 'requests for deliveries are forgotten',
    tables: [],
    sql: `delete from pgboss.job where name <> 'mails' and ${UNFINISHED}`,
  },
];

/** What grants access, and was perhaps ended, revoked or used after the copy was made. */
export const ENDED: readonly RestorationStep[] = [
  {
    what: 'sessions of users are ended',
    tables: ['sessions'],
    sql: `update sessions set ended_at = :now, end_reason = 'ended' where ended_at is null`,
  },
  { what: 'identifiers of sessions are forgotten', tables: ['session_ids'], sql: 'delete from session_ids' },
  {
    what: 'sessions of developers are ended',
    tables: ['developer_sessions'],
    sql: 'delete from developer_sessions',
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
    what: 'consents to the word of agent issuers are ended',
    tables: ['agent_delegations'],
    sql: 'delete from agent_delegations',
  },
  {
    what: 'links to new passwords are ended',
    tables: ['password_resets'],
    sql: 'delete from password_resets',
  },
  {
    what: 'tokens that machines have paid for are ended',
    tables: ['machine_payments'],
    sql: 'update machine_payments set token_digest = null, expires_at = null where token_digest is not null',
  },
  { what: 'processes of the past are forgotten', tables: ['nodes'], sql: 'delete from nodes' },
];

/** Tables whose rows stay as they are, with the reason. */
export const KEPT: readonly (readonly [reason: string, tables: readonly string[]])[] = [
  [
    "what the copy holds of the service's data is what was restored",
    [
      'agents',
      'application_usage',
      'applications',
      'audit_log',
      'bans',
      'daily_statistics',
      'files',
      'license_quota_entries',
      'licenses',
      'plans',
      'reseller_ledger',
      'reseller_prices',
      'reseller_purchases',
      'resellers',
      'subscriptions',
      'users',
      'variables',
    ],
  ],
  [
    'the processor is asked about purchases, and may send its messages again',
    ['checkouts', 'invoices', 'payment_notices', 'payment_reversals', 'plan_subscriptions'],
  ],
  [
    'the test processor is part of the database: its money was restored with it',
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
    'endpoints and receivers are settings: what waits for them is parked',
    ['security_event_receivers', 'webhooks'],
  ],
  [
    'the more of them are remembered, the less can be sent again',
    ['idempotency_keys', 'nonces', 'used_assertions'],
  ],
  ['their windows end within an hour', ['rate_limits']],
  ['keys of the installation: what was sealed under them must be opened', ['data_keys', 'signing_keys']],
  ['contents that are missing or too many are found by housekeeping', ['blobs']],
  ['their secrets are replaced', ['oauth_clients']],
  ['what was migrated', ['schema_migrations', 'schema_migrations_lock']],
];

/** Does it. @returns how many rows it was */
export async function runStep(trx: Knex.Transaction, { sql }: RestorationStep, now: Date): Promise<number> {
  const { rowCount } = await trx.raw<{ rowCount: number }>(sql, { now });
  return rowCount;
}
