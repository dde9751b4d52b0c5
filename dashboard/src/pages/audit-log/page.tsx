import { AuditExport } from '../../audit/audit-export.tsx';
import { AuditLog } from '../../audit/audit-log.tsx';
import { useChangeSearch } from '../../lib/change-search.ts';
import { Page } from '../../shell/page.tsx';
import { auditLogRoute } from './route.ts';
import { auditSource } from './source.tsx';

/** Every change on the developer's side. */
export function AuditLogPage() {
  const search = auditLogRoute.useSearch();
  const change = useChangeSearch(auditLogRoute);
  return (
    <Page
      title="Audit log"
      description="Who changed what in your account, and from which address. Entries never change."
      actions={<AuditExport source={auditSource} search={search} />}
    >
      <AuditLog source={auditSource} search={search} onChange={change} />
    </Page>
  );
}
