import type { Knex } from 'knex';

/** Each table is locked separately and briefly; constraints are validated afterwards, concurrently with writes. */
export const config = { transaction: false };

const LEDGER_KINDS = `kind in ('credit', 'debit', 'generation', 'refund', 'commission', 'top_up', 'reversal')`;
const LEDGER_AMOUNTS = `case kind when 'credit' then amount_minor > 0 when 'debit' then amount_minor < 0
  when 'generation' then amount_minor <= 0 when 'refund' then amount_minor >= 0 when 'commission' then amount_minor <> 0
  when 'top_up' then amount_minor > 0 else amount_minor < 0 end`;

/** By table; an interrupted migration can be repeated. */
const CONSTRAINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  resellers: {
    resellers_owed_minor: 'owed_minor >= 0',
    resellers_waiting_minor: 'waiting_minor >= 0',
  },
  reseller_ledger: { reseller_ledger_kinds: LEDGER_KINDS, reseller_ledger_amounts: LEDGER_AMOUNTS },
  reseller_purchases: { reseller_purchases_gross_minor: 'gross_minor >= cost_minor' },
};

export async function up(knex: Knex): Promise<void> {
  await alter(
    knex,
    'resellers',
    `alter table resellers add column if not exists owed_minor bigint not null default 0,
       add column if not exists waiting_minor bigint not null default 0;
     comment on column resellers.owed_minor is
       'The part of reversed payments that the balance did not cover. Payments to the balance settle it first';
     comment on column resellers.waiting_minor is
       'The part of payments beyond the limit of the balance: it is credited as soon as the balance allows'`,
  );
  await alter(
    knex,
    'reseller_ledger',
    `alter table reseller_ledger drop constraint if exists reseller_ledger_kind_check,
       drop constraint if exists reseller_ledger_check;
     comment on column reseller_ledger.reference is
       'The same for all entries of one transaction: the refunded license, the first one generated, or the payment'`,
  );
  await alter(
    knex,
    'reseller_purchases',
    `alter table reseller_purchases add column if not exists gross_minor bigint;
     comment on column reseller_purchases.gross_minor is
       'The price before the commission if the commission is a separate entry; null if one entry has the amount paid'`,
  );
  for (const [table, constraints] of Object.entries(CONSTRAINTS)) {
    for (const name of Object.keys(constraints)) {
      await knex.raw(`alter table ${table} validate constraint ${name}`);
    }
  }
}

/** In a separate transaction with a short lock timeout: waiting for a table would block all later transactions. */
async function alter(knex: Knex, table: string, statements: string): Promise<void> {
  await knex.transaction(async (trx) => {
    await trx.raw(`set local lock_timeout = 500; ${statements}`);
    for (const [name, check] of Object.entries(CONSTRAINTS[table]!)) {
      await trx.raw(`alter table ${table} drop constraint if exists ${name},
        add constraint ${name} check (${check}) not valid`);
    }
  });
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
alter table reseller_purchases drop gross_minor;
alter table resellers drop owed_minor, drop waiting_minor;
alter table reseller_ledger drop constraint reseller_ledger_kinds, drop constraint reseller_ledger_amounts,
  add constraint reseller_ledger_kind_check check (kind in ('credit', 'debit', 'generation', 'refund')),
  add constraint reseller_ledger_check check (
    case kind when 'credit' then amount_minor > 0 when 'debit' then amount_minor < 0
      when 'generation' then amount_minor <= 0 else amount_minor >= 0 end)`);
}
