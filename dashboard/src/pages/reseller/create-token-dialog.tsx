import type { Schemas } from '../../api/client.ts';
import type { Choice } from '../../components/choices.tsx';
import { NEVER } from '../../components/expiry-field.tsx';
import { CreateTokenDialog, type NewToken } from '../../components/tokens/create-token-dialog.tsx';
import { useResellersChanged } from '../resellers/queries.ts';
import { resellerActions } from './queries.ts';

interface Props {
  readonly resellerId: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onCreated: (token: string) => void;
}

type Scope = Schemas['CreateResellerTokenRequest']['scopes'][number];

const SCOPES: readonly Choice<Scope>[] = [
  { value: 'read', label: 'Read', hint: 'See the balance, the prices, the ledger and their keys.' },
  { value: 'write', label: 'Buy', hint: 'Buy keys from the balance, and return unused ones.' },
];

/** Creates a token for a reseller. */
export function CreateResellerTokenDialog({ resellerId, open, onClose, onCreated }: Props) {
  const changed = useResellersChanged();
  const create = async (wanted: NewToken<Scope>) => {
    const { token } = await resellerActions(resellerId).createToken(wanted);
    onCreated(token);
    await changed();
  };
  return (
    <CreateTokenDialog
      open={open}
      title="Create a token for the reseller"
      example="Shop"
      scopesLabel="What it can do"
      scopes={SCOPES}
      initial={{ scopes: ['read', 'write'], expiry: NEVER }}
      onCreate={create}
      onClose={onClose}
    />
  );
}
