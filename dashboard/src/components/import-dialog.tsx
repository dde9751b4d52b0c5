import { type ReactNode, useState } from 'react';
import { DialogForm } from './dialog-form.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { toast } from './toast.tsx';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description: ReactNode;
  /** The kinds of files, as `<input accept>` has them. */
  readonly accept: string;
  /** @returns what to say when it is done */
  readonly onImport: (file: File) => Promise<string>;
  readonly children: ReactNode;
}

/** Imports a file, either all of it or nothing, and lists the lines that are wrong. */
export function ImportDialog({ open, title, description, ...props }: Props) {
  return (
    <Dialog kind="wide" open={open} onClose={props.onClose} title={title} description={description}>
      <ImportForm {...props} />
    </Dialog>
  );
}

function ImportForm({ accept, onImport, onClose, children }: Omit<Props, 'open' | 'title' | 'description'>) {
  const [file, setFile] = useState<File>();
  return (
    <DialogForm
      action="Import"
      onClose={onClose}
      onSubmit={async () => toast(await onImport(file!))}
      subject={file}
    >
      {children}
      <Field
        label="File"
        type="file"
        accept={accept}
        required
        onChange={({ target }) => setFile(target.files?.[0])}
      />
    </DialogForm>
  );
}
