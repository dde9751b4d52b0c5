import type { Knex } from 'knex';
import type { OAuthClients } from '../oauth/oauth.ts';
import type { Clock } from '../../platform/clock.ts';
import { ENDED, PARKED, runStep } from './restoration-store.ts';

/** How many rows a step changed. */
export interface StepResult {
  readonly what: string;
  readonly rows: number;
}

/** Prepares data that were restored from a copy. */
export interface Restoration {
  /**
   * Parks what is due to external receivers, and ends everything that grants access and may have been ended since the
   * copy was made. It can be repeated, and then covers what has been added since.
   * @param db one transaction covers all steps
   */
  quarantine(db: Knex): Promise<readonly StepResult[]>;
}

interface Dependencies {
  readonly oauthClients: Pick<OAuthClients, 'replaceSecrets'>;
  readonly clock: Clock;
}

export function createRestoration({ oauthClients, clock }: Dependencies): Restoration {
  return {
    quarantine: (db) =>
      db.transaction(async (trx) => {
        const now = clock.now();
        const done: StepResult[] = [];
        for (const step of [...PARKED, ...ENDED]) {
          done.push({ what: step.what, rows: await runStep(trx, step, now) });
        }
        const rows = await oauthClients.replaceSecrets(trx);
        return [...done, { what: 'secrets of OAuth clients are replaced by unknown ones', rows }];
      }),
  };
}
