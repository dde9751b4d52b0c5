import { IN_90_DAYS } from '../../components/expiry-field.tsx';
import { CreateTokenDialog, type NewToken } from '../../components/tokens/create-token-dialog.tsx';
import { createToken, useAccessChanged } from './queries.ts';
import { TOKEN_SCOPES, type TokenScope } from './scopes.tsx';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (token: string) => void;
}

/** Creates an API token. */
export function CreateApiTokenDialog({ open, onClose, onCreated }: Props) {
  const changed = useAccessChanged();
  const create = async (wanted: NewToken<TokenScope>) => {
    const { token } = await createToken(wanted);
    onCreated(token);
    await changed();
  };
  return (
    <CreateTokenDialog
      open={open}
      title="Create an API token"
      example="Discord bot"
      hint="What the token is for, so that you recognize it later."
      scopesLabel="Scopes"
      scopes={TOKEN_SCOPES}
      initial={{ scopes: ['read'], expiry: IN_90_DAYS }}
      onCreate={create}
      onClose={onClose}
    />
  );
}
