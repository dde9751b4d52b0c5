import type { components } from '../../generated/types.ts';
import type { BulkOutcome, Selection } from '../../src/foundation/bulk/bulk.ts';
import type { UserFilter } from '../../src/licensing/users/users.ts';
import { toFilter } from './user.ts';

type Schemas = components['schemas'];

/** The users that a request selects. */
export function toSelection(body: Schemas['ChangeUsersRequest']): Selection<UserFilter> {
  const { user_ids: ids, filter, cursor, dry_run: dryRun = false } = body;
  return { ids, filter: filter && toFilter(filter), cursor, dryRun };
}

/** The result as the contract shows it. */
export function toResult(
  outcome: BulkOutcome,
  { dry_run = false }: Schemas['ChangeUsersRequest'],
): Schemas['ChangeUsersResult'] {
  const { matched, changed, nextCursor } = outcome;
  const unchanged = outcome.unchanged.map(({ id, code }) => ({ user_id: id, code }));
  return { status: 'success', dry_run, matched, changed, unchanged, next_cursor: nextCursor };
}
