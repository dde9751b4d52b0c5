import { Link } from '@tanstack/react-router';
import { call } from '../../../api/client.ts';
import { downloadFile } from '../../../api/download.ts';
import type { AuditSource } from '../../../audit/source.ts';

export const auditSource: AuditSource = {
  key: ['admin', 'audit-log'],
  read: (query, signal) => call('GET /api/v2/admin/audit-log', { query, signal }),
  saveCsv: (query) => downloadFile('GET /api/v2/admin/audit-log/export', { query }),
  saveNdjson: (query) => downloadFile('GET /api/v2/admin/audit-log/export/ndjson', { query }),
  linkTo(id) {
    if (!id.startsWith('dev_')) return undefined;
    return (
      <Link to="/admin/developers/$developerId" params={{ developerId: id }}>
        <code>{id}</code>
      </Link>
    );
  },
};
