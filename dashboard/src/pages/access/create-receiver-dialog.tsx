import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { createReceiver, useAccessChanged } from './queries.ts';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Adds a receiver of security events. */
export function CreateReceiverDialog({ open, onClose }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Add a receiver">
      <CreateReceiverForm onClose={onClose} />
    </Dialog>
  );
}

function CreateReceiverForm({ onClose }: Pick<Props, 'onClose'>) {
  const { draft, text } = useDraft({ url: '', audience: '', authorization: '' });
  const changed = useAccessChanged();
  const submit = async () => {
    const { url, audience, authorization } = draft;
    await createReceiver({ url, audience, ...(authorization && { authorization }) });
    await changed();
    toast('Receiver added.');
  };
  return (
    <DialogForm action="Add receiver" onClose={onClose} onSubmit={submit}>
      {(errorOf) => (
        <>
          <Field
            label="URL"
            type="url"
            required
            maxLength={2048}
            autoComplete="off"
            placeholder="https://idp.example.com/security-events"
            error={errorOf('url')}
            {...text('url')}
          />
          <Field
            label="Audience"
            required
            maxLength={512}
            autoComplete="off"
            hint="The value of aud in the tokens, by which the receiver recognizes that they are for it."
            error={errorOf('audience')}
            {...text('audience')}
          />
          <Field
            label="Authorization (optional)"
            type="password"
            maxLength={1024}
            autoComplete="new-password"
            hint="The value of the Authorization header, such as Bearer and a token. It is never shown again."
            error={errorOf('authorization')}
            {...text('authorization')}
          />
        </>
      )}
    </DialogForm>
  );
}
