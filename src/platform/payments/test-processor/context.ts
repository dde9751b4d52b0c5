import type { Knex } from 'knex';
import type { ProcessorEvents } from './events.ts';
import type { TestProcessorOptions } from './options.ts';

/** What the parts of the test processor share. */
export interface Context extends TestProcessorOptions {
  readonly events: ProcessorEvents;
  /** Runs work in a transaction, and sends the events that it wrote right after the commit. */
  change<Result>(work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
}
