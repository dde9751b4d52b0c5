import type { Knex } from 'knex';
import type { ProcessorEvents } from './events.ts';
import type { TestProcessorOptions } from './options.ts';

/** What the parts of the test processor share. */
export interface Context extends TestProcessorOptions {
  readonly events: ProcessorEvents;
  /** Runs work in a transaction; what it has written is sent at once when it is over. */
  change<Result>(work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
}
