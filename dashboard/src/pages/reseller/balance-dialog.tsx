import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { formatMoney } from '../../lib/format.ts';
import { type Reseller, useResellersChanged } from '../resellers/queries.ts';
import { resellerActions } from './queries.ts';

interface Props {
  readonly kind: 'credit' | 'debit';
  readonly reseller: Reseller;
  readonly open: boolean;
  readonly onClose: () => void;
}

const WORDS = {
  credit: { title: 'Credit the balance', action: 'Credit', note: 'Bank transfer of 20 November' },
  debit: { title: 'Debit the balance', action: 'Debit', note: 'Paid out' },
} as const;

/** Adds to a balance, or takes from it. */
export function BalanceDialog({ open, ...props }: Props) {
  const { kind, reseller, onClose } = props;
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={WORDS[kind].title}
      description={`The balance is ${formatMoney(reseller.balance, reseller.currency)}.`}
    >
      <BalanceForm {...props} />
    </Dialog>
  );
}

function BalanceForm({ kind, reseller, onClose }: Omit<Props, 'open'>) {
  const { draft, text } = useDraft({ amount: '', note: '' });
  const changed = useResellersChanged();
  const submit = async () => {
    const { balance } = await resellerActions(reseller.reseller_id)[kind]({
      amount: Number(draft.amount),
      ...(draft.note && { note: draft.note }),
    });
    await changed();
    toast(`The balance is now ${formatMoney(balance, reseller.currency)}.`);
  };
  return (
    <DialogForm action={WORDS[kind].action} onClose={onClose} onSubmit={submit}>
      {(errorOf) => (
        <>
          <Field
            label={`Amount in ${reseller.currency}`}
            type="number"
            inputMode="decimal"
            required
            min={0}
            step="any"
            error={errorOf('amount')}
            {...text('amount')}
          />
          <Field
            label="Reason (optional)"
            maxLength={500}
            autoComplete="off"
            placeholder={WORDS[kind].note}
            hint="You and the reseller see it in the ledger."
            error={errorOf('note')}
            {...text('note')}
          />
        </>
      )}
    </DialogForm>
  );
}
