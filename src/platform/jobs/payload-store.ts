import type { Knex } from 'knex';
import type { SealedRows } from '../database/reseal.ts';
import type { QueueName } from './job.ts';
import { SCHEMA } from './pg-boss.ts';

const JOBS = `${SCHEMA}.job`;
const SEALED = `decode(data->>'payload', 'base64')`;

/** The sealed payloads of a queue's open requests, by key. */
export function sealedPayloads(
  knex: Knex,
  queue: QueueName,
  context: SealedRows['context'],
): SealedRows<string> {
  return {
    name: queue,
    context,
    list: (after, keyId, limit) =>
      knex(JOBS)
        .where({ name: queue })
        .where('state', '<', 'completed')
        .whereRaw(`substring(${SEALED} from 1 for ?) <> ?`, [keyId.length, keyId])
        .where('singleton_key', '>', after)
        .orderBy('singleton_key')
        .limit(limit)
        .select('singleton_key as id', knex.raw(`${SEALED} as sealed`)),
    replace: (key, from, to) =>
      knex(JOBS)
        .where({ name: queue, singleton_key: key })
        .whereRaw(`${SEALED} = ?`, from)
        .update({
          data: knex.raw(`jsonb_set(data, '{payload}', to_jsonb(?::text))`, to.toString('base64')),
        }),
  };
}
