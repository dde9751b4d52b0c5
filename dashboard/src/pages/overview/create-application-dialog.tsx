import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { asProblem } from '../../api/problem.ts';
import { Button, buttonClass } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Secret } from '../../components/secret.tsx';
import { createApplication, useApplicationsChanged } from './queries.ts';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates an application, and shows its secret once. */
export function CreateApplicationDialog({ open, onClose }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Create an application">
      <CreateForm onClose={onClose} />
    </Dialog>
  );
}

function CreateForm({ onClose }: Pick<Props, 'onClose'>) {
  const [name, setName] = useState('');
  const changed = useApplicationsChanged();
  const creation = useMutation({ mutationFn: createApplication, onSuccess: () => void changed() });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate(name);
  };
  if (creation.data) return <Created application={creation.data} onClose={onClose} />;
  return (
    <Form onSubmit={submit}>
      <Field
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        value={name}
        error={creation.error ? asProblem(creation.error).fieldError('name') : undefined}
        hint="Your users see it. You can change it later."
        onChange={({ target }) => setName(target.value)}
      />
      {creation.error && <ErrorState error={creation.error} compact />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={creation.isPending}>
          Create
        </Button>
      </DialogActions>
    </Form>
  );
}

interface CreatedProps {
  readonly application: Schemas['CreateApplicationResult'];
  readonly onClose: () => void;
}

function Created({ application, onClose }: CreatedProps) {
  return (
    <>
      <Secret what="application secret" value={application.secret} />
      <Facts
        facts={[
          ['Name', application.name],
          [
            'app_id',
            <span key="id">
              <code>{application.app_id}</code> <CopyButton text={application.app_id} what="app_id" />
            </span>,
          ],
        ]}
      />
      <DialogActions>
        <Button onClick={onClose}>Close</Button>
        <Link
          to="/apps/$appId"
          params={{ appId: application.app_id }}
          className={buttonClass({ look: 'primary' })}
        >
          Open the application
        </Link>
      </DialogActions>
    </>
  );
}
