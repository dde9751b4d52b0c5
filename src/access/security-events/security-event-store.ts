import type { Knex } from 'knex';
import type { AgentRevokedEvent, SubjectId } from './security-event-state.ts';

const WRITTEN_AT_ONCE = 1_000;

export interface ReceiverRow {
  readonly receiver_id: string;
  readonly developer_id: string;
  readonly url: string;
  readonly audience: string;
  readonly authorization_sealed: Buffer | null;
  readonly slow: boolean;
  readonly created_at: Date;
  readonly last_delivered_at: Date | null;
  readonly last_failed_at: Date | null;
  readonly last_fault: string | null;
}

export interface DeliveryRow {
  readonly delivery_id: string;
  readonly receiver_id: string;
  readonly sub_id: SubjectId;
  readonly event: AgentRevokedEvent;
  readonly attempts: number;
  readonly next_attempt_at: Date;
}

export async function insertReceiver(trx: Knex.Transaction, row: ReceiverRow): Promise<void> {
  await trx('security_event_receivers').insert(row);
}

export async function countReceivers(trx: Knex.Transaction, developerId: string): Promise<number> {
  const row = await trx('security_event_receivers')
    .where({ developer_id: developerId })
    .count<{ count: number }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

/** Newest first; ids sort by time of creation. */
export async function listReceivers(
  db: Knex,
  developerId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<ReceiverRow[]> {
  const query = db<ReceiverRow>('security_event_receivers')
    .where({ developer_id: developerId })
    .orderBy('receiver_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('receiver_id', '<', page.before);
}

export async function findReceiver(db: Knex, receiverId: string): Promise<ReceiverRow | undefined> {
  return db<ReceiverRow>('security_event_receivers').where({ receiver_id: receiverId }).first();
}

/** Deletes a receiver with its pending deliveries. @returns whether it existed */
export async function deleteReceiver(
  trx: Knex.Transaction,
  developerId: string,
  receiverId: string,
): Promise<boolean> {
  const deleted = await trx('security_event_receivers')
    .where({ developer_id: developerId, receiver_id: receiverId })
    .delete();
  return deleted === 1;
}

/** The receivers of developers, locked against deletion until the transaction ends. */
export async function lockReceiversForShare(
  trx: Knex.Transaction,
  developerIds: readonly string[],
): Promise<Pick<ReceiverRow, 'receiver_id' | 'developer_id' | 'slow'>[]> {
  return trx<ReceiverRow>('security_event_receivers')
    .whereIn('developer_id', developerIds as string[])
    .orderBy('receiver_id')
    .forKeyShare()
    .select('receiver_id', 'developer_id', 'slow');
}

export async function insertDeliveries(
  trx: Knex.Transaction,
  rows: readonly Omit<DeliveryRow, 'attempts'>[],
): Promise<void> {
  for (let first = 0; first < rows.length; first += WRITTEN_AT_ONCE) {
    await trx('security_event_deliveries').insert(rows.slice(first, first + WRITTEN_AT_ONCE));
  }
}

/** Deliveries to a receiver that are due, oldest first. */
export async function listDueDeliveries(
  db: Knex,
  receiverId: string,
  now: Date,
  limit: number,
): Promise<DeliveryRow[]> {
  return db<DeliveryRow>('security_event_deliveries')
    .where({ receiver_id: receiverId })
    .whereNull('fault')
    .where('next_attempt_at', '<=', now)
    .orderBy(['next_attempt_at', 'delivery_id'])
    .limit(limit)
    .select('delivery_id', 'receiver_id', 'sub_id', 'event', 'attempts', 'next_attempt_at') as Promise<
    DeliveryRow[]
  >;
}

/**
 * The ids of receivers with due deliveries. Seeks from receiver to receiver, so that the number of pending deliveries
 * does not matter.
 * @param after the last id of the previous page
 */
export async function listDueReceivers(
  db: Knex,
  now: Date,
  after: string,
  limit: number,
): Promise<Pick<ReceiverRow, 'receiver_id' | 'slow'>[]> {
  const { rows } = await db.raw<{ rows: Pick<ReceiverRow, 'receiver_id' | 'slow'>[] }>(
    `with recursive waiting (receiver_id) as (
       (select receiver_id from security_event_deliveries where receiver_id > ? order by receiver_id limit 1)
       union all
       select (select d.receiver_id from security_event_deliveries d
               where d.receiver_id > waiting.receiver_id order by d.receiver_id limit 1)
       from waiting where waiting.receiver_id is not null
     )
     select r.receiver_id, r.slow from waiting join security_event_receivers r using (receiver_id)
     where exists (
       select from security_event_deliveries d
       where d.receiver_id = r.receiver_id and d.fault is null and d.next_attempt_at <= ?)
     order by r.receiver_id limit ?`,
    [after, now, limit],
  );
  return rows;
}

/** Excludes a delivery from attempts until its fault is null again. */
export async function setAside(db: Knex, deliveryId: string, fault: string): Promise<void> {
  await db('security_event_deliveries').where({ delivery_id: deliveryId }).update({ fault });
}

/** How many deliveries are set aside. */
export async function countSetAside(db: Knex): Promise<number> {
  const row = await db('security_event_deliveries')
    .whereNotNull('fault')
    .count<{ count: number }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

/** The results of some attempts. */
export interface AttemptsRecord {
  /** Ids of deliveries without further attempts. */
  readonly ended: readonly string[];
  /** `attempts` is the number before this attempt: of two concurrent attempts, one counts. */
  readonly again: readonly Pick<DeliveryRow, 'delivery_id' | 'attempts' | 'next_attempt_at'>[];
  readonly receiver: Partial<
    Pick<ReceiverRow, 'slow' | 'last_delivered_at' | 'last_failed_at' | 'last_fault'>
  >;
}

export async function recordAttempts(
  trx: Knex.Transaction,
  receiverId: string,
  { ended, again, receiver }: AttemptsRecord,
): Promise<void> {
  // The receiver first, in the same order as its deletion.
  const updated = await trx('security_event_receivers').where({ receiver_id: receiverId }).update(receiver);
  if (updated === 0) return;
  if (ended.length > 0) {
    await trx('security_event_deliveries')
      .whereIn('delivery_id', ended as string[])
      .delete();
  }
  if (again.length === 0) return;
  await trx.raw(
    `update security_event_deliveries d set attempts = d.attempts + 1, next_attempt_at = r.next_attempt_at
     from jsonb_to_recordset(?::jsonb) as r (delivery_id text, attempts integer, next_attempt_at timestamptz)
     where d.delivery_id = r.delivery_id and d.attempts = r.attempts`,
    [JSON.stringify(again)],
  );
}
