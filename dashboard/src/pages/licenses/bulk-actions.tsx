import { useState } from 'react';
import type { CursorList } from '../../api/pages.ts';
import { BulkActions } from '../../components/data-table/bulk/bulk-actions.tsx';
import type { Selection } from '../../components/data-table/selection.ts';
import { Checkbox, Field } from '../../components/field.tsx';
import { licenseSteps } from './bulk.ts';
import { type License, type LicenseFilter, useLicensesChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly filter: LicenseFilter;
  readonly list: CursorList<License>;
  readonly selection: Selection;
}

/** What can be done with the chosen licenses. */
export function LicenseBulkActions({ appId, filter, list, selection }: Props) {
  const [reason, setReason] = useState('');
  const [banUsers, setBanUsers] = useState(false);
  const [days, setDays] = useState('30');
  const changed = useLicensesChanged(appId);
  const steps = licenseSteps(appId, filter);
  const common = { hasDryRun: true, isForListed: true };
  return (
    <BulkActions
      noun="license"
      list={list}
      selection={selection}
      idOf={({ license_id }) => license_id}
      nameOf={({ license_key }) => license_key}
      onOpen={() => {
        setReason('');
        setBanUsers(false);
      }}
      onChanged={() => void changed()}
      actions={[
        {
          ...common,
          label: 'Pause',
          description: 'They cannot be redeemed or log in until you resume them. Subscriptions continue.',
          run: steps.pause,
        },
        {
          ...common,
          label: 'Ban',
          description: 'They can no longer be redeemed or log in. Users keep what they added.',
          run: steps.ban({ ...(reason && { reason }), ...(banUsers && { ban_users: true }) }),
          fields: (
            <>
              <Field
                label="Reason (optional)"
                value={reason}
                maxLength={500}
                hint="Only you see it."
                onChange={({ target }) => setReason(target.value)}
              />
              <Checkbox
                label="Also ban the users who redeemed them"
                checked={banUsers}
                onChange={({ target }) => setBanUsers(target.checked)}
              />
            </>
          ),
        },
      ]}
      more={[
        {
          label: 'Extend',
          description: 'Unused keys add more days. Users who redeemed one of the keys get the days now.',
          run: steps.extend(Number(days)),
          fields: (
            <Field
              label="Days"
              type="number"
              min={1}
              max={36_500}
              value={days}
              onChange={({ target }) => setDays(target.value)}
            />
          ),
        },
        {
          ...common,
          label: 'Resume',
          description: 'Paused keys can be redeemed and log in again.',
          run: steps.resume,
        },
        {
          ...common,
          label: 'Unban',
          description: 'Banned keys can be redeemed and log in again.',
          run: steps.unban,
        },
        {
          ...common,
          label: 'Delete',
          description: 'Only unused keys are deleted, and they cannot be restored.',
          run: steps.delete,
          isFinal: true,
        },
      ]}
    />
  );
}
