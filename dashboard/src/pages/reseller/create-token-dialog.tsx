import type { Schemas } from '../../api/client.ts';
import { Choices } from '../../components/choices.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ExpiryField, expiryTime, NEVER } from '../../components/expiry-field.tsx';
import { Field } from '../../components/field.tsx';
import { useDraft } from '../../lib/draft.ts';
import { useResellersChanged } from '../resellers/queries.ts';
import { resellerActions } from './queries.ts';

interface Props {
  readonly resellerId: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (token: string) => void;
}

/** Creates a token for a reseller. */
export function CreateTokenDialog({ open, ...props }: Props) {
  return (
    <Dialog open={open} onClose={props.onClose} title="Create a token for the reseller">
      <CreateTokenForm {...props} />
    </Dialog>
  );
}

type Scope = Schemas['CreateResellerTokenRequest']['scopes'][number];

const SCOPES: readonly { readonly value: Scope; readonly label: string; readonly hint: string }[] = [
  { value: 'read', label: 'Read', hint: 'See the balance, the prices, the ledger and their keys.' },
  { value: 'write', label: 'Buy', hint: 'Buy keys from the balance, and return unused ones.' },
];

function CreateTokenForm({ resellerId, onClose, onCreated }: Omit<Props, 'open'>) {
  const { draft, change, text } = useDraft({
    name: '',
    scopes: ['read', 'write'] as readonly Scope[],
    expiry: NEVER,
  });
  const changed = useResellersChanged();
  const submit = async () => {
    const { name, scopes, expiry } = draft;
    const { token } = await resellerActions(resellerId).createToken({
      name,
      scopes: [...scopes],
      expires_at: expiryTime(expiry),
    });
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
            placeholder="Shop"
            error={errorOf('name')}
            {...text('name')}
          />
          <Choices
            label="What it can do"
            options={SCOPES}
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
