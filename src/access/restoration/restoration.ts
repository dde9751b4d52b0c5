import type { Knex } from 'knex';
import type { OAuthClients } from '../oauth/oauth.ts';
import type { Clock } from '../../platform/clock.ts';
import { ENDED, PARKED, runStep } from './restoration-store.ts';

/** What was done to how many rows. */
export interface StepResult {
  readonly what: string;
  readonly rows: number;
}

/** Data that were restored from a copy. */
export interface Restoration {
  /**
   * Makes them quiet: what was due to an outside receiver is parked, and everything that grants access and may have been ended
   * since the copy was made is ended. Doing it again does it to what has come since.
   * @param db where all of it happens in one transaction, or nothing
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
        for (const deed of [...PARKED, ...ENDED]) {
          done.push({ what: deed.what, rows: await runStep(trx, deed, now) });
        }
        const rows = await oauthClients.replaceSecrets(trx);
        return [...done, { what: 'secrets of OAuth clients are replaced by ones that nobody knows', rows }];
      }),
  };
}
