import type { Knex } from 'knex';

/** One transaction for each reseller, so that none is locked for long; an interrupted migration can be repeated. */
export const config = { transaction: false };

const RESELLERS_AT_ONCE = 500;

/** Replaces the sums of a reseller, including those that the trigger has counted. */
const COUNT = `
insert into reseller_sales (reseller_id, day, keys_sold, charged_minor, keys_refunded, refunded_minor)
select reseller_id, (created_at at time zone 'UTC')::date,
  coalesce(sum(licenses) filter (where kind = 'generation'), 0),
  coalesce(-sum(amount_minor) filter (where kind = 'generation' or kind = 'commission' and amount_minor > 0), 0),
  coalesce(sum(licenses) filter (where kind = 'refund'), 0),
  coalesce(sum(amount_minor) filter (where kind = 'refund' or kind = 'commission' and amount_minor < 0), 0)
from reseller_ledger
where reseller_id = ? and kind in ('generation', 'refund', 'commission')
group by 1, 2
on conflict (reseller_id, day) do update set
  keys_sold = excluded.keys_sold, charged_minor = excluded.charged_minor,
  keys_refunded = excluded.keys_refunded, refunded_minor = excluded.refunded_minor`;

export async function up(knex: Knex): Promise<void> {
  for (let last = ''; ;) {
    const { rows } = await knex.raw<{ rows: { reseller_id: string }[] }>(
      'select reseller_id from resellers where reseller_id > ? order by reseller_id limit ?',
      [last, RESELLERS_AT_ONCE],
    );
    for (const { reseller_id } of rows) {
      await knex.transaction(async (trx) => {
        // Every entry is written under this lock.
        await trx.raw('select from resellers where reseller_id = ? for no key update', [reseller_id]);
        await trx.raw(COUNT, [reseller_id]);
      });
    }
    if (rows.length < RESELLERS_AT_ONCE) return;
    last = rows.at(-1)!.reseller_id;
  }
}

export async function down(): Promise<void> {
  // The table goes with the migration before.
}
