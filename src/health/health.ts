import { ApiError } from '../errors/api-error.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/database/index.ts';

export interface Health {
  /**
   * Asks every part that the service cannot work without.
   * @returns when it was asked
   * @throws ApiError HEALTH_CHECK_FAILED, which names the part
   */
  check(): Promise<Date>;
}

export function createHealth(database: Pick<Database, 'ping'>, clock: Clock): Health {
  return {
    async check() {
      try {
        await database.ping();
      } catch (cause) {
        throw new ApiError('HEALTH_CHECK_FAILED', { detail: 'The database is not operational.', cause });
      }
      return clock.now();
    },
  };
}
