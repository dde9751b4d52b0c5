import { AuditExport } from '../../../audit/audit-export.tsx';
import { AuditLog } from '../../../audit/audit-log.tsx';
import { useChangeSearch } from '../../../lib/change-search.ts';
import { Page } from '../../../shell/page.tsx';
import { operatorAuditRoute } from './route.ts';
import { auditSource } from './source.tsx';

/** What was done with the administrator's token, and by agents that no one has claimed. */
export function OperatorAuditPage() {
  const search = operatorAuditRoute.useSearch();
  const change = useChangeSearch(operatorAuditRoute);
  return (
    <Page
      title="Audit log"
      description={
        'Actions with the administrator’s token and of agents without an owner. What concerns a developer is in ' +
        'that developer’s audit log.'
      }
      actions={<AuditExport source={auditSource} search={search} />}
    >
      <AuditLog source={auditSource} search={search} onChange={change} />
    </Page>
  );
}
