import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { type Reseller, useResellersChanged } from '../resellers/queries.ts';
import { resellerActions } from './queries.ts';

interface Props {
  readonly reseller: Reseller;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Changes the name and the commission of a reseller. */
export function EditDialog({ open, ...props }: Props) {
  return (
    <Dialog open={open} onClose={props.onClose} title="Edit the reseller">
      <EditForm {...props} />
    </Dialog>
  );
}

function EditForm({ reseller, onClose }: Omit<Props, 'open'>) {
  const { draft, text, isChanged, changesOf } = useDraft({
    name: reseller.name,
    commission_margin: String(reseller.commission_margin),
  });
  const changed = useResellersChanged();
  const submit = async () => {
    await resellerActions(reseller.reseller_id).update(
      changesOf({ name: draft.name, commission_margin: Number(draft.commission_margin) }),
    );
    await changed();
    toast('Reseller saved.');
  };
  return (
    <DialogForm action="Save" onClose={onClose} onSubmit={submit} isDisabled={!isChanged()}>
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
            label="Commission in percent"
            type="number"
            required
            min={0}
            max={100}
            step={0.01}
            hint="The part of each price that the reseller keeps. It applies to keys that they buy afterwards."
            error={errorOf('commission_margin')}
            {...text('commission_margin')}
          />
        </>
      )}
    </DialogForm>
  );
}
