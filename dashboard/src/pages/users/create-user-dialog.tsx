import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { inOtherWords } from '../../api/in-other-words.ts';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { toast } from '../../components/toast.tsx';
import { createUser, useUsersChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Adds a user without the user's program. */
export function CreateUserDialog({ appId, open, onClose }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Add a user">
      <CreateForm appId={appId} onClose={onClose} />
    </Dialog>
  );
}

/** The hint of the API, to log in instead, is for end users. */
const WORDS = { USERNAME_TAKEN: { hint: 'Choose another username.' } };

function CreateForm({ appId, onClose }: Omit<Props, 'open'>) {
  const [draft, setDraft] = useState({ username: '', password: '', email: '', role: '' });
  const changed = useUsersChanged(appId);
  const creation = useMutation({
    mutationFn: () => {
      const { username, password, email, role } = draft;
      return createUser(appId, {
        username,
        ...(password && { password }),
        ...(email && { email }),
        ...(role && { role }),
      });
    },
    onSuccess: async () => {
      await changed();
      toast(`User ${draft.username} added.`);
      onClose();
    },
  });
  const problem = creation.error ? asProblem(creation.error) : undefined;
  const field = (name: keyof typeof draft) => ({
    value: draft[name],
    error: problem?.fieldError(name),
    onChange: ({ target }: { target: HTMLInputElement }) => setDraft({ ...draft, [name]: target.value }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <Form onSubmit={submit}>
      <Field label="Username" required autoComplete="off" {...field('username')} />
      <Field
        label="Password (optional)"
        type="password"
        autoComplete="new-password"
        hint="Without one, the user can log in only after you set it."
        {...field('password')}
      />
      <Field label="Email (optional)" type="email" autoComplete="off" {...field('email')} />
      <Field
        label="Role (optional)"
        maxLength={32}
        hint="Your own label. Logins return it."
        {...field('role')}
      />
      {creation.error && <ErrorState error={inOtherWords(creation.error, WORDS)} compact />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={creation.isPending}>
          Add user
        </Button>
      </DialogActions>
    </Form>
  );
}
