import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { ErrorState } from './error-state.tsx';
import { Field } from './field.tsx';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description: ReactNode;
  readonly action: string;
  /** What the user must type, for what affects many people. */
  readonly typed?: string;
  readonly isDangerous?: boolean;
  /** Whether something that the dialog needs is missing or invalid. */
  readonly isDisabled?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly children?: ReactNode;
}

/** Needs a confirmation for something that cannot be undone, and shows why it failed. */
export function ConfirmDialog({ onClose, onConfirm, ...props }: Props) {
  const { open, title, description, action, typed, isDangerous = true, isDisabled = false, children } = props;
  const cancel = useRef<HTMLButtonElement>(null);
  const [text, setText] = useState('');
  const confirmation = useMutation({ mutationFn: onConfirm, onSuccess: close });

  function close() {
    setText('');
    confirmation.reset();
    onClose();
  }

  return (
    <Dialog alert open={open} onClose={close} title={title} description={description} initialFocus={cancel}>
      {children}
      {typed !== undefined && (
        <Field
          label={`Type ${typed} to confirm`}
          value={text}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {confirmation.error && <ErrorState error={confirmation.error} compact />}
      <DialogActions>
        <Button ref={cancel} onClick={close}>
          Cancel
        </Button>
        <Button
          look={isDangerous ? 'danger' : 'primary'}
          busy={confirmation.isPending}
          disabled={isDisabled || (typed !== undefined && text !== typed)}
          onClick={() => confirmation.mutate()}
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
