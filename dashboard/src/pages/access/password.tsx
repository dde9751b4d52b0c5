import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import styles from './access.module.css';
import { changePassword, useAccessChanged } from './queries.ts';

const EMPTY = { password: '', new_password: '' };

/** Changes the password of the account. */
export function Password() {
  const { draft, change, text } = useDraft(EMPTY);
  const changed = useAccessChanged();
  const update = useMutation({
    mutationFn: () => changePassword(draft),
    onSuccess: async () => {
      change(EMPTY);
      await changed();
      toast('Password changed. All other sessions ended.');
    },
  });
  const problem = update.error ? asProblem(update.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate();
  };
  return (
    <Card
      title="Password"
      description={
        'A new password ends all other sessions, and you get an email about it. API tokens, ' +
        'authorizations and agents stay valid.'
      }
    >
      <div className={styles.password}>
        <Form onSubmit={submit}>
          <Field
            label="Current password"
            type="password"
            autoComplete="current-password"
            required
            maxLength={128}
            error={problem?.fieldError('password')}
            {...text('password')}
          />
          <Field
            label="New password"
            type="password"
            autoComplete="new-password"
            required
            minLength={8}
            maxLength={128}
            hint="At least 8 characters."
            error={problem?.fieldError('new_password')}
            {...text('new_password')}
          />
          {update.error && <ErrorState error={update.error} compact />}
          <div>
            <Button type="submit" busy={update.isPending}>
              Change password
            </Button>
          </div>
        </Form>
      </div>
    </Card>
  );
}
