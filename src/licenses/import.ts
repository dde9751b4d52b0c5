import { isUtf8 } from 'node:buffer';
import type { Knex } from 'knex';
import type { Actor } from '../audit/audit.ts';
import type { Application, Applications } from '../applications/applications.ts';
import type { Bulk } from '../bulk/bulk.ts';
import { ApiError, type Fault } from '../errors/api-error.ts';
import type { Events } from '../events/events.ts';
import type { Clock } from '../platform/clock.ts';
import { CsvFault, readCsv } from './license-csv.ts';
import { canonicalLicenseKey } from './license-key.ts';
import { readImportedLicense, type ImportedLicense } from './imported-license.ts';
import { SLICE, type KeySafe } from './license.ts';
import { insertImported } from './license-store.ts';

const MOST_LINES = 100_000;
const SHOWN_FAULTS = 100;
const COLUMNS = { key: true, tier: true, duration_days: true, note: false, redeem_by: false, status: false };

export interface LicenseImport {
  /**
   * Imports a table of keys of another system, all or none.
   * @param upload CSV in UTF-8, at most 100,000 lines
   * @returns how many
   * @throws ApiError APPLICATION_NOT_FOUND, TOO_MANY_REQUESTS, and what the upload throws; VALIDATION_FAILED with the
   *   faulty lines
   */
  import(actor: Actor, appId: string, upload: AsyncIterable<Uint8Array>): Promise<number>;
}

interface Dependencies {
  readonly applications: Applications;
  readonly safe: KeySafe;
  readonly bulk: Bulk;
  readonly events: Events;
  readonly clock: Clock;
}

/** A licence to import, and where it stands. */
interface Line {
  readonly line: number;
  readonly license: ImportedLicense;
}

export function createLicenseImport({
  applications,
  safe,
  bulk,
  events,
  clock,
}: Dependencies): LicenseImport {
  async function importTable(
    trx: Knex.Transaction,
    { appId, tiers }: Application,
    bytes: readonly Uint8Array[],
  ): Promise<number> {
    const createdAt = clock.now();
    const faults: Fault[] = [];
    const addFault = (line: number, detail: string) => void faults.push({ pointer: `/line/${line}`, detail });
    const lineOf = new Map<string, number>();
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
      }));
      const inserted = await insertImported(trx, appId, createdAt, rows);
      rows.forEach(({ license_id }, index) => {
        if (!inserted.has(license_id)) addFault(slice[index]!.line, 'key exists already');
      });
      imported += inserted.size;
      slice = [];
    }

    try {
      let lines = 0;
      for await (const { line, cells } of readCsv(bytes, assertHeader)) {
        lines += 1;
        if (lines > MOST_LINES) {
          addFault(line, `is beyond the first ${MOST_LINES} lines`);
          break;
        }
        if (faults.length >= SHOWN_FAULTS) break;
        const license = cells
          ? readImportedLicense(cells, tiers)
          : ['has more or fewer cells than the header'];
        if (Array.isArray(license)) {
          for (const detail of license) addFault(line, detail);
          continue;
        }
        const canonical = canonicalLicenseKey(license.licenseKey)!;
        const before = lineOf.get(canonical);
        if (before !== undefined) {
          addFault(line, `key is the one of line ${before}`);
          continue;
        }
        lineOf.set(canonical, line);
        slice.push({ line, license });
        if (slice.length === SLICE) await insertSlice();
      }
    } catch (error) {
      if (!(error instanceof CsvFault)) throw error;
      addFault(error.line, error.message);
    }
    if (slice.length > 0) await insertSlice();
    if (faults.length > 0) throw invalidLines(faults);
    if (imported === 0)
      throw invalidLines([{ pointer: '/line/2', detail: 'is missing: there is nothing to import' }]);
    return imported;
  }

  return {
    async import(actor, appId, upload) {
      const { developerId } = actor;
      await applications.ofDeveloper(developerId, appId);
      return bulk.admit(developerId, async () => {
        // Before the transaction: a slow client must not keep one open.
        const bytes = await collect(upload);
        return bulk.transaction(developerId, async (trx) => {
          const application = await applications.holdOfDeveloper(trx, developerId, appId);
          const imported = await importTable(trx, application, bytes);
          await events.record(trx, { type: 'license.imported', appId, data: { amount: imported }, actor });
          return imported;
        });
      });
    },
  };
}

async function collect(upload: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = [];
  for await (const part of upload) parts.push(part);
  if (!isUtf8(Buffer.concat(parts))) {
    throw new ApiError('MALFORMED_REQUEST', { detail: 'The body is not valid UTF-8.' });
  }
  return parts;
}

function assertHeader(names: readonly string[]): void {
  const faults: string[] = [];
  for (const name of new Set(names)) {
    if (!Object.hasOwn(COLUMNS, name)) faults.push(`has a column that is not known: ${name.slice(0, 64)}`);
    if (names.filter((other) => other === name).length > 1) faults.push(`has the column ${name} twice`);
  }
  for (const [name, required] of Object.entries(COLUMNS)) {
    if (required && !names.includes(name)) faults.push(`has no column ${name}`);
  }
  if (faults.length > 0) throw invalidLines(faults.map((detail) => ({ pointer: '/line/1', detail })));
}

function invalidLines(faults: readonly Fault[]): ApiError {
  const errors = faults.slice(0, SHOWN_FAULTS).sort((a, b) => lineNumber(a) - lineNumber(b));
  const more = faults.length >= SHOWN_FAULTS ? ', and there may be more' : '';
  const detail = `${errors.length} ${errors.length === 1 ? 'fault' : 'faults'} in the table${more}: nothing was imported.`;
  return new ApiError('VALIDATION_FAILED', { detail, errors });
}

function lineNumber({ pointer }: Fault): number {
  return Number(pointer.slice('/line/'.length));
}
