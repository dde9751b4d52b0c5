import type { Knex } from 'knex';
import type { Clock } from '../../clock.ts';
import type { Logger } from '../../logger.ts';
import type { Random } from '../../random.ts';
import type { Notices } from './notices.ts';

/** What the test processor works with. */
export interface TestProcessorOptions {
  readonly knex: Knex;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Signs notices. */
  readonly signingSecret: Buffer;
  /** Whose account it is: said in notices, so that those of another installation are known. */
  readonly account: string;
  /** Where its pages are. */
  readonly webUrl: () => string;
  /** Where its notices are sent to. */
  readonly notifyUrl: () => string;
  /** How long it looks for nothing that is due, unless it is told of something; 5 seconds when undefined. */
  readonly processorPauseMs?: number | undefined;
}

/** 192 unpredictable bits: some of the names are all that is needed to pay. */
const REF_BYTES = 24;

/** @param kind says what it names: `cs` a checkout, `pi` a payment, `su` a subscription, `in` an invoice, `nt` a notice */
export function newRef(random: Random, kind: 'cs' | 'pi' | 'su' | 'in' | 'nt'): string {
  return `${kind}_test_${random.bytes(REF_BYTES).toString('base64url')}`;
}

/** What the parts of the test processor share. */
export interface Context extends TestProcessorOptions {
  readonly notices: Notices;
  /** Runs work in a transaction; what it has written is sent at once when it is over. */
  change<Result>(work: (trx: Knex.Transaction) => Promise<Result>): Promise<Result>;
}

/** The present moment, but later than another one: of two facts in one millisecond the later one must be known. */
export function laterThan(before: Date | null, now: Date): Date {
  return before && before >= now ? new Date(before.getTime() + 1) : now;
}
