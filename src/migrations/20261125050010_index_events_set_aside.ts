import type { Knex } from 'knex';

/** Events are written meanwhile. */
export const config = { transaction: false };

export async function up(knex: Knex): Promise<void> {
  // An interrupted build leaves an invalid index.
  await knex.raw('drop index concurrently if exists events_set_aside');
  await knex.raw(
    `create index concurrently events_set_aside on events (event_id)
      where fault is not null or broker_fault is not null`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists events_set_aside');
}
