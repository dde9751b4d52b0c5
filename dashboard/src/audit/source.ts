import type { ReactNode } from 'react';
import type { QueryKey } from '@tanstack/react-query';
import type { Schemas } from '../api/client.ts';
import type { CursorPage } from '../api/pages.ts';
import type { AuditQuery } from './filter.ts';

export type AuditEntry = Schemas['AuditEntry'];

/** An audit log: how to read a page of it, and how to save all of it. */
export interface AuditSource {
  readonly key: QueryKey;
  readonly read: (
    query: AuditQuery & { readonly limit: number; readonly cursor?: string },
    signal: AbortSignal,
  ) => Promise<CursorPage<AuditEntry>>;
  readonly saveCsv: (query: AuditQuery) => void;
  readonly saveNdjson: (query: AuditQuery) => void;
  /** A link to what an identifier of an entry stands for, if the dashboard has a page for it. */
  readonly linkTo?: (id: string, entry: AuditEntry) => ReactNode;
}
