import { useQuery } from '@tanstack/react-query';
import { Facts } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { formatDuration } from '../../lib/format.ts';
import { useLast } from '../../lib/last.ts';
import { UserLink } from '../../shell/user-link.tsx';
import { LicenseActions } from './license-actions.tsx';
import styles from './license-drawer.module.css';
import { LicenseForm } from './license-form.tsx';
import { type License, licenseQuery } from './queries.ts';
import { StatusBadge } from './status-badge.tsx';

interface Props {
  readonly appId: string;
  readonly licenseId: string | undefined;
  readonly onClose: () => void;
}

/** The details of one license, and what can be done with it. */
export function LicenseDrawer({ appId, licenseId, onClose }: Props) {
  const shown = useLast(licenseId);
  const license = useQuery({ ...licenseQuery(appId, shown ?? ''), enabled: licenseId !== undefined });
  return (
    <Dialog kind="drawer" open={licenseId !== undefined} onClose={onClose} title="License">
      {license.isLoadingError ? (
        <ErrorState error={license.error} onRetry={() => void license.refetch()} />
      ) : license.data ? (
        <Details key={license.data.license_id} appId={appId} license={license.data} onDeleted={onClose} />
      ) : (
        <Loading what="the license" />
      )}
    </Dialog>
  );
}

function Details({ appId, license, onDeleted }: { appId: string; license: License; onDeleted: () => void }) {
  return (
    <>
      <div className={styles.key}>
        <code>{license.license_key}</code>
        <CopyButton text={license.license_key} what="license key" />
      </div>
      <LicenseActions appId={appId} license={license} onDeleted={onDeleted} />
      <Facts
        facts={[
          ['Status', <StatusBadge key="status" status={license.status} />],
          ...(license.ban_reason ? [['Reason of the ban', license.ban_reason] as const] : []),
          ['Tier', license.tier],
          ['Duration', formatDuration(license.duration_days)],
          [
            'Redeemed by',
            license.redeemed_by ? <UserLink key="user" appId={appId} userId={license.redeemed_by} /> : '—',
          ],
          ['Redeemed', <Time key="redeemed" value={license.redeemed_at} />],
          ['Created', <Time key="created" value={license.created_at} />],
          ...(license.reseller_id
            ? [['Reseller', <code key="reseller">{license.reseller_id}</code>] as const]
            : []),
          ['Identifier', <code key="id">{license.license_id}</code>],
        ]}
      />
      <LicenseForm appId={appId} license={license} />
    </>
  );
}
