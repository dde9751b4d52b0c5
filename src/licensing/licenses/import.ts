import type { Knex } from 'knex';
import type { Actor } from '../../foundation/audit/audit.ts';
import type { Application, Applications } from '../../accounts/applications/applications.ts';
import type { Bulk } from '../../foundation/bulk/bulk.ts';
import type { Developers } from '../../accounts/developers/developers.ts';
import { ApiError } from '../../foundation/errors/api-error.ts';
import type { Events } from '../../foundation/events/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { LineFaults, readCsv, textOf } from '../../foundation/tabular-data/tabular-data.ts';
import { canonicalLicenseKey } from './license-key.ts';
import { COLUMNS, readImportedLicense, type ImportedLicense } from './imported-license.ts';
import { SLICE, type KeySafe } from './license.ts';
import { insertImported } from './license-store.ts';

const MOST_LINES = 100_000;

export interface LicenseImport {
  /**
   * Imports a table of keys of another system, or of an export, all or none.
   * @param upload CSV in UTF-8, at most 100,000 lines
   * @returns how many
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, and what the upload throws; MALFORMED_REQUEST for
   *   invalid UTF-8, VALIDATION_FAILED with the faulty lines
   */
  import(actor: Actor, appId: string, upload: AsyncIterable<Uint8Array>): Promise<number>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly developers: Pick<Developers, 'takeLicenses'>;
  readonly safe: KeySafe;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly clock: Clock;
}

/** A license to import, and its line. */
interface Line {
  readonly line: number;
  readonly license: ImportedLicense;
}

export function createLicenseImport({
  applications,
  developers,
  safe,
  bulk,
  events,
  clock,
}: Dependencies): LicenseImport {
  /** @returns how many, and their tiers */
  async function importTable(
    trx: Knex.Transaction,
    { appId, tiers }: Application,
    bytes: readonly Uint8Array[],
  ): Promise<{ readonly imported: number; readonly used: ReadonlySet<string> }> {
    const createdAt = clock.now();
    const faults = new LineFaults();
    const lineOf = new Map<string, number>();
    const used = new Set<string>();
    let imported = 0;
    let slice: Line[] = [];

    async function insertSlice(): Promise<void> {
      const rows = slice.map(({ license: { licenseKey, ...terms } }) => ({
        ...safe.keep(licenseKey),
        tier: terms.tier,
        duration_days: terms.durationDays,
        note: terms.note,
        redeem_by: terms.redeemBy,
        status: terms.status,
        redeemed_at: terms.redeemedAt,
        ban_reason: terms.banReason,
      }));
      const inserted = await insertImported(trx, appId, createdAt, rows);
      rows.forEach(({ license_id }, index) => {
        if (!inserted.has(license_id)) faults.add(slice[index]!.line, 'license_key exists already');
      });
      imported += inserted.size;
      slice = [];
    }

    let lines = 0;
    for await (const each of readCsv(textOf(bytes), COLUMNS)) {
      const { line } = each;
      lines += 1;
      if (lines > MOST_LINES) {
        faults.add(line, `is beyond the first ${MOST_LINES} lines`);
        break;
      }
      if (faults.cutShort()) break;
      const license = 'fault' in each ? [each.fault] : readImportedLicense(each.cells, tiers, createdAt);
      if (Array.isArray(license)) {
        for (const detail of license) faults.add(line, detail);
        continue;
      }
      const canonical = canonicalLicenseKey(license.licenseKey)!;
      const before = lineOf.get(canonical);
      if (before !== undefined) {
        faults.add(line, `license_key is the one of line ${before}`);
        continue;
      }
      lineOf.set(canonical, line);
      used.add(license.tier);
      slice.push({ line, license });
      if (slice.length === SLICE) await insertSlice();
    }
    if (slice.length > 0) await insertSlice();
    if (imported === 0 && faults.lines === 0) faults.add(2, 'is missing: there is nothing to import');
    faults.throwAny();
    return { imported, used };
  }

  return {
    async import(actor, appId, upload) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      return bulk.admit(developerId, async () => {
        // Before the transaction, which a slow client must not keep open.
        const bytes = await Array.fromAsync(upload);
        return bulk.transaction(developerId, async (trx) => {
          // The upload may have taken long.
          const application = await applications.ofDeveloper(developerId, appId);
          const { imported, used } = await importTable(trx, application, bytes);
          // Locked only now, so that bans, pauses and logins wait only for the rest.
          const { tiers } = await applications.lockOfDeveloperForShare(trx, developerId, appId);
          if (![...used].every((tier) => tiers.includes(tier))) {
            throw new ApiError('VALIDATION_FAILED', {
              detail: 'The tiers of the application changed during the import.',
            });
          }
          await events.record(trx, { type: 'license.imported', appId, data: { amount: imported }, actor });
          await developers.takeLicenses(trx, developerId, imported);
          return imported;
        });
      });
    },
  };
}
