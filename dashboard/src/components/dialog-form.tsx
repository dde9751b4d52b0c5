import { useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { asProblem } from '../api/problem.ts';
import { Button } from './button.tsx';
import { DialogActions } from './dialog.tsx';
import { ErrorState } from './error-state.tsx';
import { Form } from './form.tsx';

/** Finds what is wrong with a member of the request. */
export type ErrorOf = (name: string) => string | undefined;

interface Props {
  /** The label of the button that submits. */
  readonly action: string;
  readonly onClose: () => void;
  readonly onSubmit: () => Promise<unknown>;
  /** What happens when it has succeeded. By default, the dialog closes. */
  readonly onDone?: () => void;
  readonly isDisabled?: boolean;
  /** Whether it takes something away from someone. */
  readonly isDangerous?: boolean;
  /** What is submitted, such as a file, if why it failed says nothing about another one. */
  readonly subject?: unknown;
  readonly children: ReactNode | ((errorOf: ErrorOf) => ReactNode);
}

/** The form of a dialog: its fields, why it failed, and its buttons. */
export function DialogForm(props: Props) {
  const { action, onClose, onSubmit, onDone = onClose, isDisabled, isDangerous, subject, children } = props;
  const submission = useMutation({ mutationFn: (_subject: unknown) => onSubmit(), onSuccess: onDone });
  const error = submission.variables === subject ? submission.error : null;
  const problem = error ? asProblem(error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!submission.isPending) submission.mutate(subject);
  };
  return (
    <Form onSubmit={submit}>
      {typeof children === 'function' ? children((name) => problem?.fieldError(name)) : children}
      {error && <ErrorState error={error} compact />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look={isDangerous ? 'danger' : 'primary'}
          busy={submission.isPending}
          disabled={isDisabled}
        >
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
