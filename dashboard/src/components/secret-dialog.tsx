import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { Secret } from './secret.tsx';

interface Props {
  readonly title: string;
  /** What it is, such as `application secret`. */
  readonly what: string;
  /** The dialog is open while there is a secret. */
  readonly value: string | undefined;
  readonly onClose: () => void;
  /** How to use it. */
  readonly children?: ReactNode;
}

/** Shows a new secret once. A click outside does not close it. */
export function SecretDialog({ title, what, value, onClose, children }: Props) {
  return (
    <Dialog alert open={value !== undefined} onClose={onClose} title={title}>
      {value !== undefined && <Secret what={what} value={value} />}
      {children}
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
