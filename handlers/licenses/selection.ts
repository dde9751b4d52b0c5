import type { components } from '../../generated/types.ts';
import type { BulkOutcome, Selection } from '../../src/foundation/bulk/bulk.ts';
import type { LicenseFilter } from '../../src/licensing/licenses/licenses.ts';
import { toFilter } from './license.ts';

type Schemas = components['schemas'];

/** The licenses that a request selects. */
export function toSelection(body: Schemas['ChangeLicensesRequest']): Selection<LicenseFilter> {
  const { license_ids: ids, filter, cursor, dry_run: dryRun = false } = body;
  return { ids, filter: filter && toFilter(filter), cursor, dryRun };
}

/** The result as the contract shows it. */
export function toResult(
  outcome: BulkOutcome,
  { dry_run = false }: Schemas['ChangeLicensesRequest'],
): Schemas['ChangeLicensesResult'] {
  const { matched, changed, nextCursor } = outcome;
  const unchanged = outcome.unchanged.map(({ id, code }) => ({ license_id: id, code }));
  return { status: 'success', dry_run, matched, changed, unchanged, next_cursor: nextCursor };
}
