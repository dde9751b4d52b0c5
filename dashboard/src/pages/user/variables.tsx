import { useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { DataTable } from '../../components/data-table/data-table.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Field, TextArea } from '../../components/field.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Stack } from '../../shell/page.tsx';
import { useUsersChanged } from '../users/queries.ts';
import { deleteVariable, setVariable, useUserVariables } from './queries.ts';
import styles from './variables.module.css';

interface UserPath {
  readonly app_id: string;
  readonly user_id: string;
}

interface Draft {
  readonly name: string;
  readonly value: string;
  readonly isNew: boolean;
}

/** The values that a program stores for a user. */
export function Variables({ path }: { readonly path: UserPath }) {
  const list = useUserVariables(path);
  const changed = useUsersChanged(path.app_id);
  const [draft, setDraft] = useState<Draft>();
  const [deleted, setDeleted] = useState<string>();
  const add = <Button onClick={() => setDraft({ name: '', value: '', isNew: true })}>Set a variable</Button>;
  return (
    <Stack>
      {list.items.length > 0 && <div>{add}</div>}
      <DataTable
        label="variables"
        list={list}
        idOf={({ name }) => name}
        nameOf={({ name }) => name}
        columns={[
          {
            id: 'name',
            header: 'Name',
            cell: ({ name, value }) => (
              <>
                <code title={name} className={styles.line}>
                  {name}
                </code>
                <bdi title={value} className={styles.value}>
                  {value}
                </bdi>
              </>
            ),
          },
          { id: 'value', header: 'Value', from: 'tablet', cell: ({ value }) => <code>{value}</code> },
          {
            id: 'updated',
            header: 'Changed',
            width: TIME_WIDTHS.relative,
            from: 'tablet',
            cell: ({ updated_at }) => <Time value={updated_at} form="relative" />,
          },
          {
            id: 'actions',
            header: 'Actions',
            width: '7rem',
            cell: ({ name, value }) => (
              <>
                <IconButton
                  label={`Edit ${name}`}
                  icon="settings"
                  onClick={() => setDraft({ name, value, isNew: false })}
                />
                <IconButton label={`Delete ${name}`} icon="close" onClick={() => setDeleted(name)} />
              </>
            ),
          },
        ]}
        empty={
          <EmptyState icon="settings" title="No variables" action={add}>
            Variables hold what belongs to this user, such as preferences. The user's program can read them.
          </EmptyState>
        }
      />
      <Dialog
        open={draft !== undefined}
        onClose={() => setDraft(undefined)}
        title={draft?.isNew ? 'Set a variable' : `Edit ${draft?.name ?? ''}`}
      >
        {draft && <VariableForm path={path} initial={draft} onClose={() => setDraft(undefined)} />}
      </Dialog>
      <ConfirmDialog
        open={deleted !== undefined}
        onClose={() => setDeleted(undefined)}
        title={`Delete ${deleted ?? ''}?`}
        description="The user's program no longer gets this value."
        action="Delete"
        onConfirm={async () => {
          await deleteVariable(path, deleted!);
          await changed();
          toast('Variable deleted.');
        }}
      />
    </Stack>
  );
}

function VariableForm({ path, initial, onClose }: { path: UserPath; initial: Draft; onClose: () => void }) {
  const [name, setName] = useState(initial.name);
  const [value, setValue] = useState(initial.value);
  const changed = useUsersChanged(path.app_id);
  const submit = async () => {
    await setVariable(path, name, value);
    await changed();
    toast('Variable saved.');
  };
  return (
    <DialogForm action="Save" onClose={onClose} onSubmit={submit}>
      {initial.isNew && (
        <Field
          label="Name"
          required
          maxLength={64}
          pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]*"
          autoComplete="off"
          value={name}
          hint="Letters, digits, dots, dashes and underscores."
          onChange={({ target }) => setName(target.value)}
        />
      )}
      <TextArea label="Value" value={value} onChange={({ target }) => setValue(target.value)} />
    </DialogForm>
  );
}
