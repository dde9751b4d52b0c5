import { Choices } from '../../components/choices.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ExpiryField, expiryTime, IN_90_DAYS } from '../../components/expiry-field.tsx';
import { Field } from '../../components/field.tsx';
import { useDraft } from '../../lib/draft.ts';
import { createToken, useAccessChanged } from './queries.ts';
import { TOKEN_SCOPES, type TokenScope } from './scopes.tsx';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (token: string) => void;
}

/** Creates an API token. */
export function CreateTokenDialog({ open, ...props }: Props) {
  return (
    <Dialog open={open} onClose={props.onClose} title="Create an API token">
      <CreateTokenForm {...props} />
    </Dialog>
  );
}

function CreateTokenForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const { draft, change, text } = useDraft({
    name: '',
    scopes: ['read'] as readonly TokenScope[],
    expiry: IN_90_DAYS,
  });
  const changed = useAccessChanged();
  const submit = async () => {
    const { name, scopes, expiry } = draft;
    const { token } = await createToken({ name, scopes: [...scopes], expires_at: expiryTime(expiry) });
    onCreated(token);
    await changed();
  };
  return (
    <DialogForm
      action="Create token"
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
            placeholder="Discord bot"
            hint="What the token is for, so that you recognize it later."
            error={errorOf('name')}
            {...text('name')}
          />
          <Choices
            label="Scopes"
            options={TOKEN_SCOPES}
            chosen={draft.scopes}
            error={errorOf('scopes')}
            onChange={(scopes) => change({ scopes })}
          />
          <ExpiryField
            value={draft.expiry}
            error={errorOf('expires_at')}
            onChange={(expiry) => change({ expiry })}
          />
        </>
      )}
    </DialogForm>
  );
}
