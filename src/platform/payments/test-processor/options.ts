import type { Knex } from 'knex';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Random } from '../../random.ts';

/** The dependencies and settings of the test processor. */
export interface TestProcessorOptions {
  readonly knex: Knex;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Signs events. */
  readonly signingSecret: Buffer;
  /** The account in events, which distinguishes them from the events of another installation. */
  readonly account: string;
  /** The base URL of its pages. */
  readonly webUrl: () => string;
  /** The URL of the webhook that receives its events. */
  readonly notifyUrl: () => string;
  /** The pause between two checks for due rows, unless an event wakes it; 5 seconds if undefined. */
  readonly processorPauseMs?: number | undefined;
}
