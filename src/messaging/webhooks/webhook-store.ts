import type { Knex } from 'knex';
import { clearPreviousSecrets as clearSecrets } from '../../platform/database/previous-secrets.ts';
import { createResealer } from '../../platform/database/reseal.ts';
import type { Keyring } from '../../platform/keyring.ts';

export interface WebhookRow {
  readonly webhook_id: string;
  readonly app_id: string;
  readonly url: string;
  readonly types: string[];
  readonly description: string | null;
  readonly secret_sealed: Buffer;
  readonly previous_secret_sealed: Buffer | null;
  readonly previous_secret_expires_at: Date | null;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly disabled_at: Date | null;
  readonly failing_since: Date | null;
  readonly slow: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
  /** Set while the developer of the application is suspended. */
  readonly suspended_at: Date | null;
}

export async function insertWebhook(trx: Knex.Transaction, row: WebhookRow): Promise<void> {
  await trx('webhooks').insert(row);
}

export async function countWebhooks(trx: Knex.Transaction, appId: string): Promise<number> {
  const row = await trx('webhooks')
    .where({ app_id: appId })
    .whereNull('deleted_at')
    .count<{ count: number }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
}

export async function findWebhook(
  db: Knex,
  appId: string,
  webhookId: string,
): Promise<WebhookRow | undefined> {
  return db<WebhookRow>('webhooks')
    .where({ app_id: appId, webhook_id: webhookId })
    .whereNull('deleted_at')
    .first();
}

/** An endpoint that may receive requests. */
export async function findEnabledWebhook(db: Knex, webhookId: string): Promise<WebhookRow | undefined> {
  return db<WebhookRow>('webhooks')
    .where({ webhook_id: webhookId, enabled: true })
    .whereNull('deleted_at')
    .whereNull('suspended_at')
    .first();
}

/** Newest first; ids sort by time of creation. */
export async function listWebhooks(
  db: Knex,
  appId: string,
  page: { readonly before: string | undefined; readonly limit: number },
): Promise<WebhookRow[]> {
  const query = db<WebhookRow>('webhooks')
    .where({ app_id: appId })
    .whereNull('deleted_at')
    .orderBy('webhook_id', 'desc')
    .limit(page.limit);
  return page.before === undefined ? query : query.where('webhook_id', '<', page.before);
}

/** The endpoints of several applications that may receive requests. */
export async function listEnabledWebhooks(
  db: Knex,
  appIds: readonly string[],
): Promise<Pick<WebhookRow, 'webhook_id' | 'app_id' | 'types' | 'slow'>[]> {
  return db<WebhookRow>('webhooks')
    .whereIn('app_id', appIds as string[])
    .where('enabled', true)
    .whereNull('deleted_at')
    .whereNull('suspended_at')
    .select('webhook_id', 'app_id', 'types', 'slow');
}

export async function updateWebhook(
  db: Knex,
  webhookId: string,
  changes: Partial<WebhookRow>,
): Promise<void> {
  await db('webhooks').where({ webhook_id: webhookId }).update(changes);
}

/** Suspends the endpoints of some applications, or ends that with null. */
export async function updateSuspensions(
  trx: Knex.Transaction,
  appIds: readonly string[],
  suspendedAt: Date | null,
): Promise<void> {
  await trx('webhooks')
    .whereRaw('app_id = any (?::text[])', [[...appIds]])
    .update({ suspended_at: suspendedAt });
}

/** Changes an endpoint only if it is enabled. @returns whether it was */
export async function updateEnabledWebhook(
  trx: Knex.Transaction,
  webhookId: string,
  changes: Partial<WebhookRow>,
): Promise<boolean> {
  const changed = await trx('webhooks')
    .where({ webhook_id: webhookId, enabled: true })
    .whereNull('deleted_at')
    .update(changes);
  return changed === 1;
}

/** The earliest deleted endpoint whose row still exists. */
export async function findDeletedWebhook(db: Knex): Promise<WebhookRow | undefined> {
  return db<WebhookRow>('webhooks').whereNotNull('deleted_at').orderBy('deleted_at').first();
}

export async function removeWebhook(db: Knex, webhookId: string): Promise<void> {
  await db('webhooks').where({ webhook_id: webhookId }).whereNotNull('deleted_at').delete();
}

/** Deletes previous secrets after their overlap. @returns how many */
export function clearPreviousSecrets(db: Knex, now: Date, limit: number): Promise<number> {
  return clearSecrets(
    db,
    { table: 'webhooks', id: 'webhook_id', until: 'previous_secret_expires_at' },
    now,
    limit,
  );
}

/** Seals secrets again under the current master key, one batch per call. @returns how many each call found */
export function createSecretResealer(
  db: Knex,
  keyring: Keyring,
  context: (id: string) => string,
): () => Promise<number> {
  const [current, previous] = (['secret_sealed', 'previous_secret_sealed'] as const).map((column) =>
    createResealer(db, keyring, { table: 'webhooks', id: 'webhook_id', column, context }),
  ) as [() => Promise<number>, () => Promise<number>];
  return async () => (await current()) || (await previous());
}
