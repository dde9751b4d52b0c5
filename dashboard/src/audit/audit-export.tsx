import { Button } from '../components/button.tsx';
import { auditQuery, type AuditSearch } from './filter.ts';
import type { AuditSource } from './source.ts';

interface Props {
  readonly source: AuditSource;
  readonly search: AuditSearch;
}

/** Saves all entries that match the filters. */
export function AuditExport({ source, search }: Props) {
  return (
    <>
      <Button icon="download" onClick={() => source.saveCsv(auditQuery(search))}>
        Export CSV
      </Button>
      <Button icon="download" onClick={() => source.saveNdjson(auditQuery(search))}>
        Export NDJSON
      </Button>
    </>
  );
}
