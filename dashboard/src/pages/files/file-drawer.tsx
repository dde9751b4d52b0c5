import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { BASE } from '../../api/base.ts';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { formatNumber } from '../../lib/format.ts';
import { useLast } from '../../lib/last.ts';
import styles from './files.module.css';
import { fileActions, fileQuery, type HostedFile, useFilesChanged } from './queries.ts';
import { ACCESS } from './upload-dialog.tsx';

interface Props {
  readonly appId: string;
  /** The drawer is open while there is a name. */
  readonly name: string | undefined;
  readonly onReplace: (file: HostedFile, content: File) => void;
  readonly onClose: () => void;
}

/** One file, and what can be done with it. */
export function FileDrawer({ appId, name, onReplace, onClose }: Props) {
  const shown = useLast(name);
  const file = useQuery({ ...fileQuery(appId, shown ?? ''), enabled: name !== undefined });
  return (
    <Dialog kind="drawer" open={name !== undefined} onClose={onClose} title={shown ?? 'File'}>
      {file.isLoadingError ? (
        <ErrorState error={file.error} onRetry={() => void file.refetch()} />
      ) : file.data ? (
        <Details key={file.data.file_id} appId={appId} file={file.data} {...{ onReplace, onClose }} />
      ) : (
        <Loading what="the file" />
      )}
    </Dialog>
  );
}

interface DetailsProps extends Pick<Props, 'appId' | 'onReplace' | 'onClose'> {
  readonly file: HostedFile;
}

function Details({ appId, file, onReplace, onClose }: DetailsProps) {
  const [isDeleting, setDeleting] = useState(false);
  const changed = useFilesChanged(appId);
  const actions = fileActions(appId, file.name);
  const address = `${location.origin}${BASE}/api/v2/client/apps/${appId}/files/${encodeURIComponent(file.name)}`;
  return (
    <>
      <div className={styles.actions}>
        <Button look="primary" icon="download" onClick={actions.download}>
          Download
        </Button>
        <ReplaceButton onFile={(content) => onReplace(file, content)} />
        <Button onClick={() => setDeleting(true)}>Delete</Button>
      </div>
      <Facts
        facts={[
          ['Size', `${formatBytes(file.size)} (${formatNumber(file.size)} bytes)`],
          ['Changed', <Time key="updated" value={file.updated_at} />],
          ['Created', <Time key="created" value={file.created_at} />],
          ['Identifier', <code key="id">{file.file_id}</code>],
        ]}
      />
      <h3>SHA-256</h3>
      <CodeBlock text={file.sha256} what="SHA-256" isWord />
      <h3>Address for your program</h3>
      <CodeBlock text={address} what="address" isWord />
      <FileForm key={file.updated_at} appId={appId} file={file} />
      <ConfirmDialog
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${file.name}?`}
        description="Programs can no longer download it. This cannot be undone."
        action="Delete"
        onConfirm={async () => {
          await actions.delete();
          onClose();
          await changed('list');
          toast(`${file.name} deleted.`);
        }}
      />
    </>
  );
}

/** Opens the choice of a file, whose content takes the place of the current one. */
function ReplaceButton({ onFile }: { readonly onFile: (file: File) => void }) {
  const [input, setInput] = useState<HTMLInputElement | null>(null);
  return (
    <>
      <Button icon="upload" onClick={() => input?.click()}>
        Replace
      </Button>
      <input
        type="file"
        hidden
        ref={setInput}
        aria-label="New content"
        onChange={({ target }) => {
          const file = target.files?.[0];
          target.value = '';
          if (file) onFile(file);
        }}
      />
    </>
  );
}

function FileForm({ appId, file }: { readonly appId: string; readonly file: HostedFile }) {
  const [version, setVersion] = useState(file.version ?? '');
  const [authenticatedOnly, setAuthenticatedOnly] = useState(file.authenticated_only);
  const changed = useFilesChanged(appId);
  const update = useMutation({
    mutationFn: fileActions(appId, file.name).update,
    onSuccess: async () => {
      await changed();
      toast('File saved.');
    },
  });
  const isVersionChanged = version !== (file.version ?? '');
  const isAccessChanged = authenticatedOnly !== file.authenticated_only;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate({
      ...(isVersionChanged && { version: version || null }),
      ...(isAccessChanged && { authenticated_only: authenticatedOnly }),
    });
  };
  return (
    <Form onSubmit={submit}>
      <Field
        label="Version"
        maxLength={64}
        pattern="[!-~]([ -~]*[!-~])?"
        autoComplete="off"
        value={version}
        hint="Your program can compare it with its own. Empty removes it."
        error={update.error ? asProblem(update.error).fieldError('version') : undefined}
        onChange={({ target }) => setVersion(target.value)}
      />
      <Select
        label="Access"
        value={authenticatedOnly ? 'session' : 'public'}
        options={ACCESS}
        onChange={({ target }) => setAuthenticatedOnly(target.value === 'session')}
      />
      {update.error && <ErrorState error={update.error} compact />}
      <div>
        <Button type="submit" busy={update.isPending} disabled={!isVersionChanged && !isAccessChanged}>
          Save
        </Button>
      </div>
    </Form>
  );
}
