import { csvOf, jsonLinesOf } from '../tabular-data/tabular-data.ts';
import type { AuditEntry } from './audit-entry.ts';

export type ExportFormat = 'text/csv' | 'application/x-ndjson';

const COLUMNS = {
  audit_id: 'audit_id',
  created_at: 'created_at',
  actor_kind: 'actor_kind',
  actor_id: 'actor_id',
  address: 'address',
  action: 'action',
  app_id: 'app_id',
  target: 'target',
  data: 'data',
} as const;

/** Entries as text, one chunk for each page. */
export function exportedText(
  pages: AsyncIterable<readonly AuditEntry[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'application/x-ndjson') return jsonLinesOf(linesOf(pages, (data) => data));
  return csvOf(
    linesOf(pages, (data) => JSON.stringify(data)),
    COLUMNS,
  );
}

async function* linesOf<Data>(
  pages: AsyncIterable<readonly AuditEntry[]>,
  toData: (data: AuditEntry['data']) => Data,
) {
  for await (const page of pages) yield page.map((entry) => toLine(entry, toData(entry.data)));
}

function toLine<Data>(entry: AuditEntry, data: Data) {
  return {
    audit_id: entry.auditId,
    created_at: entry.createdAt.toISOString(),
    actor_kind: entry.actorKind,
    actor_id: entry.actorId,
    address: entry.address,
    action: entry.action,
    app_id: entry.appId,
    target: entry.target,
    data,
  };
}
