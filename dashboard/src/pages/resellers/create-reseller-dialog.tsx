import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { createReseller, useResellersChanged } from './queries.ts';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates a reseller with an empty balance. */
export function CreateResellerDialog({ open, onClose }: Props) {
  return (
    <Dialog open={open} onClose={onClose} title="Create a reseller">
      <CreateResellerForm onClose={onClose} />
    </Dialog>
  );
}

function CreateResellerForm({ onClose }: Pick<Props, 'onClose'>) {
  const { draft, text } = useDraft({ name: '', currency: 'USD', commission_margin: '0' });
  const changed = useResellersChanged();
  const navigate = useNavigate();
  const created = useRef('');
  const submit = async () => {
    const { reseller_id } = await createReseller({
      name: draft.name,
      currency: draft.currency.toUpperCase(),
      commission_margin: Number(draft.commission_margin),
    });
    await changed();
    toast('Reseller created. Set their prices next.');
    created.current = reseller_id;
  };
  // The dialog goes with its page.
  const open = () =>
    void navigate({
      to: '/resellers/$resellerId',
      params: { resellerId: created.current },
      search: { tab: 'prices' },
    });
  return (
    <DialogForm action="Create reseller" onClose={onClose} onSubmit={submit} onDone={open}>
      {(errorOf) => (
        <>
          <Field
            label="Name"
            required
            maxLength={100}
            autoComplete="off"
            error={errorOf('name')}
            {...text('name')}
          />
          <Field
            label="Currency"
            required
            maxLength={3}
            pattern="[A-Za-z]{3}"
            autoComplete="off"
            hint="A three-letter code, such as USD or EUR. You cannot change it later."
            error={errorOf('currency')}
            {...text('currency')}
          />
          <Field
            label="Commission in percent"
            type="number"
            required
            min={0}
            max={100}
            step={0.01}
            hint="The part of each price that the reseller keeps. At 10%, a key with a price of 20 costs them 18."
            error={errorOf('commission_margin')}
            {...text('commission_margin')}
          />
        </>
      )}
    </DialogForm>
  );
}
