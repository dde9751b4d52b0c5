import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../../api/client.ts';
import { downloadFile } from '../../api/download.ts';
import type { AuditEntry, AuditSource } from '../../audit/source.ts';

/** The audit log of the developer. */
export const auditSource: AuditSource = {
  key: ['audit-log'],
  read: (query, signal) => call('GET /api/v2/dev/audit-log', { query, signal }),
  saveCsv: (query) => downloadFile('GET /api/v2/dev/audit-log/export', { query }),
  saveNdjson: (query) => downloadFile('GET /api/v2/dev/audit-log/export/ndjson', { query }),
  linkTo,
};

/** The tabs of the access page, by the prefix of what they list. */
const TABS = new Map([
  ['tok', 'tokens'],
  ['cli', 'clients'],
  ['grt', 'authorizations'],
  ['agt', 'agents'],
  ['rcv', 'receivers'],
  ['dvs', 'sign-in'],
]);

/** A link to what an identifier stands for. Its prefix says what it is. */
function linkTo(id: string, { app_id: appId, actor }: AuditEntry): ReactNode {
  const [prefix = ''] = id.split('_');
  const words = <code>{id}</code>;
  const tab = TABS.get(prefix);
  // Resellers have tokens, too, which are on pages of their own.
  if (tab !== undefined && !(prefix === 'tok' && actor.kind === 'reseller')) {
    const open = prefix === 'cli' ? { client: id } : prefix === 'agt' ? { agent: id } : {};
    return (
      <Link to="/access" search={{ tab, ...open }}>
        {words}
      </Link>
    );
  }
  switch (prefix) {
    case 'app':
      return (
        <Link to="/apps/$appId" params={{ appId: id }}>
          {words}
        </Link>
      );
    case 'rsl':
      return (
        <Link to="/resellers/$resellerId" params={{ resellerId: id }}>
          {words}
        </Link>
      );
    case 'chk':
    case 'inv':
    case 'sub':
      return (
        <Link
          to="/plan"
          search={prefix === 'chk' ? { checkout: id } : prefix === 'inv' ? { tab: 'invoices' } : {}}
        >
          {words}
        </Link>
      );
    default:
      return appId === null ? undefined : linkWithin(appId, id, prefix);
  }
}

/** The same for what belongs to an application. */
function linkWithin(appId: string, id: string, prefix: string): ReactNode {
  const words = <code>{id}</code>;
  if (prefix === 'usr') {
    return (
      <Link to="/apps/$appId/users/$userId" params={{ appId, userId: id }}>
        {words}
      </Link>
    );
  }
  if (prefix === 'lic') {
    return (
      <Link to="/apps/$appId/licenses" params={{ appId }} search={{ license: id }}>
        {words}
      </Link>
    );
  }
  return undefined;
}
