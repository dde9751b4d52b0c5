import { type FormEvent, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Callout } from '../../components/callout.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field, Select } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Progress } from '../../components/progress.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { formatPercent } from '../../lib/format.ts';
import styles from './files.module.css';
import type { HostedFile } from './queries.ts';
import { useUpload } from './use-upload.ts';

/** What the user chose, and the file that it replaces if they started there. */
export interface Chosen {
  readonly file: File;
  readonly replaced?: HostedFile;
}

interface Props {
  readonly appId: string;
  readonly chosen: Chosen | undefined;
  readonly files: readonly HostedFile[];
  readonly onClose: () => void;
}

/** The name, the version and the access of a file that is about to be uploaded, and then how far it is. */
export function UploadDialog({ chosen, onClose, ...props }: Props) {
  const [isRunning, setRunning] = useState(false);
  return (
    <Dialog
      alert
      open={chosen !== undefined}
      // Only the button cancels an upload, and not the Escape key.
      onClose={() => !isRunning && onClose()}
      title={chosen?.replaced ? `Replace ${chosen.replaced.name}` : 'Upload a file'}
    >
      {chosen && <UploadForm {...props} {...chosen} onClose={onClose} onRunning={setRunning} />}
    </Dialog>
  );
}

interface FormProps extends Omit<Props, 'chosen'>, Chosen {
  readonly onRunning: (isRunning: boolean) => void;
}

function UploadForm({ appId, file, replaced, files, onClose, onRunning }: FormProps) {
  const [name, setName] = useState(replaced?.name ?? file.name);
  const present = files.find((other) => other.name === name);
  const [version, setVersion] = useState('');
  const [access, setAccess] = useState<string>();
  const authenticatedOnly = access ? access === 'session' : (present?.authenticated_only ?? true);
  const upload = useUpload(appId, file, () => {
    onRunning(false);
    toast(`${name} uploaded.`);
    onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onRunning(true);
    upload.start({ name, version, authenticatedOnly }, { onError: () => onRunning(false) });
  };
  if (upload.isRunning) return <Running file={file} sent={upload.sent} onCancel={upload.cancel} />;
  return (
    <Form onSubmit={submit}>
      <p className={styles.chosen}>
        <bdi>{file.name}</bdi>, {formatBytes(file.size)}
      </p>
      {!replaced && (
        <Field
          label="Name"
          required
          maxLength={128}
          pattern="[^\/\\]+"
          autoComplete="off"
          spellCheck={false}
          value={name}
          hint="Your program downloads the file by this name."
          onChange={({ target }) => setName(target.value)}
        />
      )}
      {present && (
        <Callout tone="warn">
          This replaces the content from <Time value={present.updated_at} />
          {present.version && <> (version {present.version})</>}. Downloads in progress still get the old
          content.
        </Callout>
      )}
      <Field
        label="Version (optional)"
        maxLength={64}
        pattern="[!-~]([ -~]*[!-~])?"
        autoComplete="off"
        value={version}
        placeholder={present?.version ?? '1.4.2'}
        hint={present ? 'Empty keeps the current version.' : 'Your program can compare it with its own.'}
        onChange={({ target }) => setVersion(target.value)}
      />
      <Select
        label="Access"
        value={authenticatedOnly ? 'session' : 'public'}
        options={ACCESS}
        onChange={({ target }) => setAccess(target.value)}
      />
      {upload.isCanceled && <Callout>Upload canceled. Nothing has changed.</Callout>}
      {upload.error && <ErrorState error={upload.error} compact />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary">
          {present ? 'Replace' : 'Upload'}
        </Button>
      </DialogActions>
    </Form>
  );
}

/** Who can download a file. */
export const ACCESS = [
  ['session', 'Signed-in users only'],
  ['public', 'Every client, also before the login'],
] as const;

interface RunningProps {
  readonly file: File;
  readonly sent: number;
  readonly onCancel: () => void;
}

function Running({ file, sent, onCancel }: RunningProps) {
  const share = file.size === 0 ? 1 : sent / file.size;
  return (
    <>
      <p className={styles.chosen}>
        <bdi>{file.name}</bdi>
      </p>
      <Progress label="Upload" value={sent} max={file.size} />
      <p className={styles.sent}>
        <span>
          {formatBytes(sent)} of {formatBytes(file.size)}
        </span>
        <span>{share < 1 ? formatPercent(share) : 'The service is storing the file.'}</span>
      </p>
      <DialogActions>
        <Button onClick={onCancel}>Cancel the upload</Button>
      </DialogActions>
    </>
  );
}
