import type { Knex } from 'knex';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Random } from '../../random.ts';

/** What the test processor works with. */
export interface TestProcessorOptions {
  readonly knex: Knex;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Signs events. */
  readonly signingSecret: Buffer;
  /** Whose account it is: said in events, so that those of another installation are known. */
  readonly account: string;
  /** Where its pages are. */
  readonly webUrl: () => string;
  /** Where its events are sent to. */
  readonly notifyUrl: () => string;
  /** How long it looks for nothing that is due, unless it is told of something; 5 seconds when undefined. */
  readonly processorPauseMs?: number | undefined;
}
