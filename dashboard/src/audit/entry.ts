import { queryOptions } from '@tanstack/react-query';
import { PAGE_SIZE } from '../api/pages.ts';
import type { AuditSource } from './source.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Identifiers begin with a time in milliseconds, of 48 bits (TypeID of a UUIDv7). */
const TIME_DIGITS = 10;
/** The year 9999, the last one of the API. */
const LAST_TIME = 253_402_300_799_999;
/** How much older than its identifier an entry may be. */
const SLACK_MS = 60_000;

/** When an identifier was made. */
function timeOf(id: string): number {
  const digits = [...id.slice(id.lastIndexOf('_') + 1, id.lastIndexOf('_') + 1 + TIME_DIGITS)];
  return digits.reduce((time, digit) => time * ALPHABET.length + ALPHABET.indexOf(digit), 0);
}

/** One entry of any age, which no operation reads by itself; null if it does not exist. */
export const entryQuery = ({ key, read }: AuditSource, auditId: string) =>
  queryOptions({
    queryKey: [...key, 'entry', auditId],
    queryFn: async ({ signal }) => {
      const time = timeOf(auditId);
      if (!(time > SLACK_MS && time < LAST_TIME)) return null;
      const since = new Date(time - SLACK_MS).toISOString();
      const until = new Date(time + SLACK_MS).toISOString();
      const { data } = await read({ since, until, limit: PAGE_SIZE }, signal);
      return data.find(({ audit_id }) => audit_id === auditId) ?? null;
    },
  });
