import { useState } from 'react';
import type { CursorList } from '../../api/pages.ts';
import { BulkActions } from '../../components/data-table/bulk/bulk-actions.tsx';
import type { Selection } from '../../components/data-table/selection.ts';
import { Field } from '../../components/field.tsx';
import { fromLocalInput } from '../../lib/format.ts';
import { userSteps } from './bulk.ts';
import { type User, type UserFilter, useUsersChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly filter: UserFilter;
  readonly list: CursorList<User>;
  readonly selection: Selection;
}

/** What can be done with the chosen users. */
export function UserBulkActions({ appId, filter, list, selection }: Props) {
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const [days, setDays] = useState('30');
  const changed = useUsersChanged(appId);
  const steps = userSteps(appId, filter);
  const common = { hasDryRun: true, isForListed: true };
  return (
    <BulkActions
      noun="user"
      list={list}
      selection={selection}
      idOf={({ user_id }) => user_id}
      nameOf={({ username }) => username}
      onOpen={() => {
        setReason('');
        setUntil('');
      }}
      onChanged={() => void changed()}
      actions={[
        {
          label: 'Extend',
          description: 'Adds days to their current subscriptions. Users without one stay as they are.',
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
          label: 'Ban',
          description: 'They can no longer log in, and their sessions end.',
          run: steps.ban({
            ...(reason && { reason }),
            ...(until && { expires_at: fromLocalInput(until) }),
          }),
          fields: (
            <>
              <Field
                label="Reason (optional)"
                value={reason}
                maxLength={500}
                hint="Only you see it."
                onChange={({ target }) => setReason(target.value)}
              />
              <Field
                label="Until (optional)"
                type="datetime-local"
                value={until}
                hint="Empty means until you unban them."
                onChange={({ target }) => setUntil(target.value)}
              />
            </>
          ),
        },
      ]}
      more={[
        { ...common, label: 'Unban', description: 'They can log in again.', run: steps.unban },
        {
          label: 'Reset machine',
          description: 'Their next login binds them to the machine that they use then.',
          run: steps.resetHwid,
        },
        {
          ...common,
          label: 'Delete',
          description: 'Their subscriptions, variables and sessions are deleted, too. This cannot be undone.',
          run: steps.delete,
          isFinal: true,
        },
      ]}
    />
  );
}
