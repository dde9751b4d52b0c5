import { useDraft } from '../../lib/draft.ts';
import { type Choice, Choices } from '../choices.tsx';
import { DialogForm } from '../dialog-form.tsx';
import { Dialog } from '../dialog.tsx';
import { type Expiry, ExpiryField, expiryTime } from '../expiry-field.tsx';
import { Field } from '../field.tsx';

/** The request that creates a token. */
export interface NewToken<Scope extends string> {
  readonly name: string;
  readonly scopes: Scope[];
  readonly expires_at: string | null;
}

interface FormProps<Scope extends string> {
  /** What a name may look like. */
  readonly example: string;
  readonly hint?: string;
  readonly scopesLabel: string;
  readonly scopes: readonly Choice<Scope>[];
  /** What is chosen at first. */
  readonly initial: { readonly scopes: readonly Scope[]; readonly expiry: Expiry };
  readonly onCreate: (token: NewToken<Scope>) => Promise<void>;
  readonly onClose: () => void;
}

interface Props<Scope extends string> extends FormProps<Scope> {
  readonly open: boolean;
  readonly title: string;
}

/** Creates a token with a name, scopes and an end. */
export function CreateTokenDialog<Scope extends string>({ open, title, ...props }: Props<Scope>) {
  return (
    <Dialog open={open} onClose={props.onClose} title={title}>
      <CreateTokenForm {...props} />
    </Dialog>
  );
}

function CreateTokenForm<Scope extends string>(props: FormProps<Scope>) {
  const { draft, change, text } = useDraft({ name: '', ...props.initial });
  const { name, scopes, expiry } = draft;
  const submit = () => props.onCreate({ name, scopes: [...scopes], expires_at: expiryTime(expiry) });
  return (
    <DialogForm
      action="Create token"
      onClose={props.onClose}
      onSubmit={submit}
      isDisabled={scopes.length === 0}
    >
      {(errorOf) => (
        <>
          <Field
            label="Name"
            required
            maxLength={100}
            autoComplete="off"
            placeholder={props.example}
            hint={props.hint}
            error={errorOf('name')}
            {...text('name')}
          />
          <Choices
            label={props.scopesLabel}
            options={props.scopes}
            chosen={scopes}
            error={errorOf('scopes')}
            onChange={(chosen) => change({ scopes: chosen })}
          />
          <ExpiryField
            value={expiry}
            error={errorOf('expires_at')}
            onChange={(value) => change({ expiry: value })}
          />
        </>
      )}
    </DialogForm>
  );
}
