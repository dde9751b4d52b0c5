import { Choices } from '../../components/choices.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, Select } from '../../components/field.tsx';
import type { Schemas } from '../../api/client.ts';
import { useDraft } from '../../lib/draft.ts';
import { createAgent, useAccessChanged } from './queries.ts';
import { AGENT_SCOPES } from './scopes.tsx';

type Wanted = Schemas['CreateAgentRequest'];

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (credential: string) => void;
}

/** Creates an agent that acts for the developer. */
export function CreateAgentDialog({ open, ...props }: Props) {
  return (
    <Dialog open={open} onClose={props.onClose} title="Create an agent">
      <CreateAgentForm {...props} />
    </Dialog>
  );
}

const CREDENTIALS = [
  ['bearer_token', 'A token for 90 days'],
  ['jwt', 'A signed token (JWT) for one hour'],
] as const;

function CreateAgentForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const { draft, change, text } = useDraft({
    name: '',
    credential_type: 'bearer_token',
    scopes: ['read', 'agent:execute'] as Wanted['scopes'],
  });
  const changed = useAccessChanged();
  const submit = async () => {
    const { credential } = await createAgent({
      name: draft.name,
      credential_type: draft.credential_type as NonNullable<Wanted['credential_type']>,
      scopes: draft.scopes,
    });
    onCreated(credential);
    await changed();
  };
  return (
    <DialogForm
      action="Create agent"
      onClose={onClose}
      onSubmit={submit}
      isDisabled={draft.scopes.length === 0}
    >
      {(errorOf) => (
        <>
          <Field
            label="Name"
            required
            maxLength={100}
            autoComplete="off"
            placeholder="Release bot"
            hint="The audit log shows what each agent does."
            error={errorOf('name')}
            {...text('name')}
          />
          <Select
            label="Credential"
            options={CREDENTIALS}
            error={errorOf('credential_type')}
            {...text('credential_type')}
          />
          <Choices
            label="What it may do"
            options={AGENT_SCOPES}
            chosen={draft.scopes}
            error={errorOf('scopes')}
            onChange={(scopes) => change({ scopes: [...scopes] })}
          />
        </>
      )}
    </DialogForm>
  );
}
