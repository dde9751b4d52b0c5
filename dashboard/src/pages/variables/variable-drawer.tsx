import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { bytesOf, formatBytes } from '../../lib/bytes.ts';
import { prettyJson } from '../../lib/json.ts';
import { useLast } from '../../lib/last.ts';
import {
  deleteVariable,
  useVariablesChanged,
  type Variable,
  variableQuery,
  VISIBILITIES,
} from './queries.ts';
import { VariableForm } from './variable-form.tsx';
import styles from './variables.module.css';

interface Props {
  readonly appId: string;
  /** The drawer is open while there is a name. */
  readonly name: string | undefined;
  readonly onClose: () => void;
}

/** The value of one variable, as text or as readable JSON, and what can be done with it. */
export function VariableDrawer({ appId, name, onClose }: Props) {
  const shown = useLast(name);
  const variable = useQuery({ ...variableQuery(appId, shown ?? ''), enabled: name !== undefined });
  return (
    <Dialog kind="drawer" open={name !== undefined} onClose={onClose} title={shown ?? 'Variable'}>
      {variable.isLoadingError ? (
        <ErrorState error={variable.error} onRetry={() => void variable.refetch()} />
      ) : variable.data ? (
        <Details key={variable.data.name} appId={appId} variable={variable.data} onDeleted={onClose} />
      ) : (
        <Loading what="the variable" />
      )}
    </Dialog>
  );
}

interface DetailsProps {
  readonly appId: string;
  readonly variable: Variable;
  readonly onDeleted: () => void;
}

const NONE: ReadonlySet<string> = new Set();

function Details({ appId, variable, onDeleted }: DetailsProps) {
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const changed = useVariablesChanged(appId);
  const { name, value, visibility } = variable;
  const pretty = prettyJson(value);
  if (isEditing) {
    return <VariableForm appId={appId} variable={variable} taken={NONE} onClose={() => setEditing(false)} />;
  }
  return (
    <>
      <div className={styles.actions}>
        <Button look="primary" onClick={() => setEditing(true)}>
          Edit
        </Button>
        <Button onClick={() => setDeleting(true)}>Delete</Button>
      </div>
      {value === '' ? <p>The value is empty.</p> : <CodeBlock what="value" text={pretty ?? value} />}
      <Facts
        facts={[
          ['Readable by', VISIBILITIES[visibility]],
          ['Format', pretty === undefined ? 'Text' : 'JSON, shown here with line breaks'],
          ['Size', formatBytes(bytesOf(value))],
          ['Changed', <Time key="updated" value={variable.updated_at} />],
          ['Created', <Time key="created" value={variable.created_at} />],
        ]}
      />
      <ConfirmDialog
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${name}?`}
        description="Programs that read it then get an error. Variables of users with this name stay."
        action="Delete"
        onConfirm={async () => {
          await deleteVariable(appId, name);
          onDeleted();
          await changed('list');
          toast(`${name} deleted.`);
        }}
      />
    </>
  );
}
