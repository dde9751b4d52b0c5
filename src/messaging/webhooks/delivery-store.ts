import type { Knex } from 'knex';
import type { DeliveryCause, DeliveryState } from './webhook-state.ts';

const ROWS_PER_INSERT = 1_000;

export interface LoggedAttempt {
  readonly attempt: number;
  readonly attempted_at: string;
  readonly duration_ms: number;
  readonly response_status: number | null;
  readonly response_body: string | null;
  readonly error: string | null;
}

export interface DeliveryRow {
  readonly delivery_id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly cause: DeliveryCause;
  readonly payload: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly last_attempt_at: Date | null;
  readonly response_status: number | null;
  readonly duration_ms: number | null;
  readonly error: string | null;
  readonly attempt_log: readonly LoggedAttempt[];
  readonly created_at: Date;
}

/** A delivery as it appears in lists. */
export type ListedDelivery = Omit<DeliveryRow, 'payload' | 'attempt_log'>;

export type NewDelivery = Pick<
  DeliveryRow,
  'delivery_id' | 'webhook_id' | 'event_id' | 'type' | 'cause' | 'payload' | 'next_attempt_at' | 'created_at'
>;

const LISTED = [
  'delivery_id',
  'webhook_id',
  'event_id',
  'type',
  'cause',
  'state',
  'attempts',
  'next_attempt_at',
  'last_attempt_at',
  'response_status',
  'duration_ms',
  'error',
  'created_at',
] as const;

/** Adds deliveries, except for repeated ones of an event to an endpoint that are not replays. */
export async function insertDeliveries(trx: Knex.Transaction, rows: readonly NewDelivery[]): Promise<void> {
  for (let first = 0; first < rows.length; first += ROWS_PER_INSERT) {
    await trx('webhook_deliveries')
      .insert(rows.slice(first, first + ROWS_PER_INSERT))
      .onConflict()
      .ignore();
  }
}

export async function findDelivery(
  db: Knex,
  webhookId: string,
  deliveryId: string,
): Promise<DeliveryRow | undefined> {
  return db<DeliveryRow>('webhook_deliveries')
    .where({ webhook_id: webhookId, delivery_id: deliveryId })
    .first() as Promise<DeliveryRow | undefined>;
}

/** Newest first; ids sort by time of creation. */
export async function listDeliveries(
  db: Knex,
  webhookId: string,
  filter: { readonly state?: DeliveryState | undefined; readonly type?: string | undefined },
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ListedDelivery[]> {
  const query = db<DeliveryRow>('webhook_deliveries')
    .where({ webhook_id: webhookId })
    .orderBy('delivery_id', 'desc')
    .limit(page.limit)
    .select(...LISTED);
  if (filter.state !== undefined) void query.where({ state: filter.state });
  if (filter.type !== undefined) void query.where({ type: filter.type });
  if (page.before !== undefined) void query.where('delivery_id', '<', page.before);
  return query as Promise<ListedDelivery[]>;
}

/** The due deliveries to an endpoint, oldest first. */
export async function listDueDeliveries(
  db: Knex,
  webhookId: string,
  now: Date,
  limit: number,
): Promise<DeliveryRow[]> {
  return db<DeliveryRow>('webhook_deliveries')
    .where({ webhook_id: webhookId, state: 'pending' })
    .where('next_attempt_at', '<=', now)
    .orderBy(['next_attempt_at', 'delivery_id'])
    .limit(limit)
    .select('*') as Promise<DeliveryRow[]>;
}

/**
 * Endpoints that may receive requests, with deliveries that are due, ordered by id. The query steps from endpoint to
 * endpoint, so that its cost does not depend on how many deliveries each has.
 * @param after the ids that follow this one
 */
export async function listDueEndpoints(
  db: Knex,
  now: Date,
  after: string,
  limit: number,
): Promise<{ readonly webhook_id: string; readonly slow: boolean }[]> {
  const { rows } = await db.raw<{ rows: { webhook_id: string; slow: boolean }[] }>(
    `with recursive endpoint (webhook_id) as (
       (select webhook_id from webhook_deliveries where state = 'pending' and webhook_id > ?
        order by webhook_id limit 1)
       union all
       select (select d.webhook_id from webhook_deliveries d
               where d.state = 'pending' and d.webhook_id > endpoint.webhook_id order by d.webhook_id limit 1)
       from endpoint where endpoint.webhook_id is not null
     )
     select w.webhook_id, w.slow from endpoint join webhooks w using (webhook_id)
     where w.enabled and w.deleted_at is null and w.suspended_at is null and exists (
       select from webhook_deliveries d
       where d.webhook_id = w.webhook_id and d.state = 'pending' and d.next_attempt_at <= ?)
     order by w.webhook_id limit ?`,
    [after, now, limit],
  );
  return rows;
}

/** Counts the deliveries that are due or will be tried again, up to a limit. */
export async function countPending(db: Knex, limit: number): Promise<number> {
  const { rows } = await db.raw<{ rows: { count: number }[] }>(
    `select count(*)::int as count
     from (select from webhook_deliveries where state = 'pending' limit ?) as pending`,
    [limit],
  );
  return rows[0]!.count;
}

/** An attempt as it is stored. */
export interface AttemptRecord {
  readonly delivery_id: string;
  /** How many attempts came before: of two concurrent ones, one counts. */
  readonly attempts: number;
  readonly state: DeliveryState;
  readonly next_attempt_at: Date | null;
  readonly logged: LoggedAttempt;
}

export async function recordAttempts(db: Knex, records: readonly AttemptRecord[]): Promise<void> {
  await db.raw(
    `update webhook_deliveries d set
       state = r.state, attempts = d.attempts + 1, next_attempt_at = r.next_attempt_at,
       last_attempt_at = (r.logged ->> 'attempted_at')::timestamptz,
       response_status = (r.logged ->> 'response_status')::integer,
       duration_ms = (r.logged ->> 'duration_ms')::integer,
       error = r.logged ->> 'error',
       attempt_log = d.attempt_log || r.logged
     from jsonb_to_recordset(?::jsonb) as r (
       delivery_id text, attempts integer, state text, next_attempt_at timestamptz, logged jsonb)
     where d.delivery_id = r.delivery_id and d.state = 'pending' and d.attempts = r.attempts`,
    [JSON.stringify(records)],
  );
}

/** Ends a pending delivery. @param error why, in words */
export async function failDelivery(db: Knex, deliveryId: string, error: string): Promise<void> {
  await db('webhook_deliveries')
    .where({ delivery_id: deliveryId, state: 'pending' })
    .update({ state: 'failed', next_attempt_at: null, error });
}

/** Deletes deliveries that were created before a time. @returns how many */
export async function clearDeliveriesBefore(db: Knex, before: Date, limit: number): Promise<number> {
  const some = db('webhook_deliveries').where('created_at', '<', before).limit(limit).select('delivery_id');
  return db('webhook_deliveries').whereIn('delivery_id', some).delete();
}

export async function clearDeliveriesOfWebhook(db: Knex, webhookId: string, limit: number): Promise<number> {
  const some = db('webhook_deliveries').where({ webhook_id: webhookId }).limit(limit).select('delivery_id');
  return db('webhook_deliveries').whereIn('delivery_id', some).delete();
}

export async function clearDeliveriesOfApplication(db: Knex, appId: string, limit: number): Promise<number> {
  const some = db('webhook_deliveries as d')
    .join('webhooks as w', 'w.webhook_id', 'd.webhook_id')
    .where('w.app_id', appId)
    .limit(limit)
    .select('d.delivery_id');
  return db('webhook_deliveries').whereIn('delivery_id', some).delete();
}
