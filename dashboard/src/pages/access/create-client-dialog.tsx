import type { Schemas } from '../../api/client.ts';
import { Choices } from '../../components/choices.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, Select } from '../../components/field.tsx';
import { LinesField, linesOf } from '../../components/lines-field.tsx';
import { useDraft } from '../../lib/draft.ts';
import { GRANT_TYPES, type GrantType } from './grant-types.ts';
import { createClient, useAccessChanged } from './queries.ts';
import { OAUTH_SCOPES } from './scopes.tsx';

type Created = Schemas['CreateOAuthClientResult'];
type Wanted = Schemas['CreateOAuthClientRequest'];

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (client: Created) => void;
}

/** Registers an OAuth client. */
export function CreateClientDialog({ open, ...props }: Props) {
  return (
    <Dialog kind="wide" open={open} onClose={props.onClose} title="Register an OAuth client">
      <CreateClientForm {...props} />
    </Dialog>
  );
}

const AUTHENTICATION = [
  ['client_secret_basic', 'A secret, in the Authorization header'],
  ['client_secret_post', 'A secret, in the request body'],
  ['none', 'None: a public client, such as a desktop or browser program'],
] as const;

const KINDS = [
  ['web', 'Web: https redirect URIs'],
  ['native', 'Native: also private-use schemes, such as com.example.app:/callback'],
] as const;

function CreateClientForm({ onClose, onCreated }: Omit<Props, 'open'>) {
  const { draft, change, text } = useDraft({
    name: '',
    application_type: 'web',
    grant_types: ['authorization_code', 'refresh_token'] as readonly GrantType[],
    redirect_uris: '',
    post_logout_redirect_uris: '',
    scopes: ['openid', 'offline_access', 'read'] as Wanted['scopes'],
    token_endpoint_auth_method: 'client_secret_basic',
  });
  const changed = useAccessChanged();
  const hasPages = draft.grant_types.includes('authorization_code');
  const submit = async () => {
    const client = await createClient({
      name: draft.name,
      application_type: draft.application_type as NonNullable<Wanted['application_type']>,
      grant_types: [...draft.grant_types],
      scopes: [...draft.scopes],
      token_endpoint_auth_method: draft.token_endpoint_auth_method as NonNullable<
        Wanted['token_endpoint_auth_method']
      >,
      ...(hasPages && {
        redirect_uris: linesOf(draft.redirect_uris),
        post_logout_redirect_uris: linesOf(draft.post_logout_redirect_uris),
      }),
    });
    await changed();
    onCreated(client);
  };
  return (
    <DialogForm
      action="Register client"
      onClose={onClose}
      onSubmit={submit}
      isDisabled={draft.scopes.length === 0 || draft.grant_types.length === 0}
    >
      {(errorOf) => (
        <>
          <Field
            label="Name"
            required
            maxLength={100}
            autoComplete="off"
            hint="Users see it on the consent page."
            error={errorOf('name')}
            {...text('name')}
          />
          <Choices
            label="How it gets tokens"
            options={GRANT_TYPES}
            chosen={draft.grant_types}
            error={errorOf('grant_types')}
            onChange={(grant_types) => change({ grant_types })}
          />
          {hasPages && (
            <>
              <Select
                label="Kind"
                options={KINDS}
                error={errorOf('application_type')}
                {...text('application_type')}
              />
              <LinesField
                label="Redirect URIs"
                required
                placeholder="https://app.example.com/callback"
                hint="One on each line. Must match exactly; only the port of a loopback address may differ."
                error={errorOf('redirect_uris')}
                value={draft.redirect_uris}
                onChange={(redirect_uris) => change({ redirect_uris })}
              />
              <LinesField
                label="Sign-out redirect URIs (optional)"
                hint="Where users may return to after they sign out."
                error={errorOf('post_logout_redirect_uris')}
                value={draft.post_logout_redirect_uris}
                onChange={(post_logout_redirect_uris) => change({ post_logout_redirect_uris })}
              />
            </>
          )}
          <Select
            label="How it proves its identity"
            options={AUTHENTICATION}
            error={errorOf('token_endpoint_auth_method')}
            {...text('token_endpoint_auth_method')}
          />
          <Choices
            label="Scopes that it can request"
            options={OAUTH_SCOPES}
            chosen={draft.scopes}
            error={errorOf('scopes')}
            onChange={(scopes) => change({ scopes: [...scopes] })}
          />
        </>
      )}
    </DialogForm>
  );
}
