import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, Field, Select } from '../../components/field.tsx';
import { fromLocalInput } from '../../lib/format.ts';
import styles from './create-dialog.module.css';
import { CreatedKeys } from './created-keys.tsx';
import { createLicenses, useLicensesChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly tiers: readonly string[];
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates up to 10,000 keys at once. */
export function CreateDialog({ open, onClose, ...props }: Props) {
  return (
    <Dialog kind="wide" open={open} onClose={onClose} title="Create license keys">
      <CreateForm {...props} onClose={onClose} />
    </Dialog>
  );
}

function CreateForm({ appId, tiers, onClose }: Omit<Props, 'open'>) {
  const [draft, setDraft] = useState({
    amount: '10',
    tier: tiers[0] ?? '',
    days: '30',
    isLifetime: false,
    redeemBy: '',
    note: '',
    mask: '',
  });
  const changed = useLicensesChanged(appId);
  const [created, setCreated] = useState<Schemas['CreateLicensesResult']>();
  const set = (members: Partial<typeof draft>) => setDraft({ ...draft, ...members });
  const submit = async () => {
    const result = await createLicenses(appId, {
      amount: Number(draft.amount),
      tier: draft.tier || (tiers[0] ?? ''),
      ...(draft.isLifetime ? { lifetime: true } : { duration_days: Number(draft.days) }),
      ...(draft.redeemBy && { redeem_by: fromLocalInput(draft.redeemBy) }),
      ...(draft.note && { note: draft.note }),
      ...(draft.mask && { mask: draft.mask }),
    });
    void changed();
    setCreated(result);
  };

  if (created) return <CreatedKeys licenses={created.licenses} onClose={onClose} />;
  return (
    <DialogForm action="Create keys" onClose={onClose} onSubmit={submit} onDone={() => {}}>
      {(errorOf) => (
        <>
          <div className={styles.pair}>
            <Field
              label="Number of keys"
              type="number"
              min={1}
              max={10_000}
              required
              value={draft.amount}
              error={errorOf('amount')}
              hint="At most 10,000 at once."
              onChange={({ target }) => set({ amount: target.value })}
            />
            <Select
              label="Tier"
              value={draft.tier}
              options={tiers.map((tier) => [tier, tier])}
              error={errorOf('tier')}
              onChange={({ target }) => set({ tier: target.value })}
            />
          </div>
          <div className={styles.pair}>
            <Field
              label="Days"
              type="number"
              min={1}
              max={36_500}
              required={!draft.isLifetime}
              disabled={draft.isLifetime}
              value={draft.isLifetime ? '' : draft.days}
              error={errorOf('duration_days')}
              hint="The time that a key adds."
              onChange={({ target }) => set({ days: target.value })}
            />
            <div className={styles.lifetime}>
              <Checkbox
                label="Lifetime"
                checked={draft.isLifetime}
                onChange={({ target }) => set({ isLifetime: target.checked })}
              />
            </div>
          </div>
          <div className={styles.pair}>
            <Field
              label="Redeem by (optional)"
              type="datetime-local"
              value={draft.redeemBy}
              error={errorOf('redeem_by')}
              hint="After this time, unused keys no longer work."
              onChange={({ target }) => set({ redeemBy: target.value })}
            />
            <Field
              label="Mask (optional)"
              value={draft.mask}
              maxLength={100}
              placeholder="AURORA-****-****-****-****"
              error={errorOf('mask')}
              hint="Each * becomes a random character. At least 16."
              onChange={({ target }) => set({ mask: target.value })}
            />
          </div>
          <Field
            label="Note (optional)"
            value={draft.note}
            maxLength={500}
            placeholder="Summer sale"
            error={errorOf('note')}
            hint="Only you see it. You can search for it later."
            onChange={({ target }) => set({ note: target.value })}
          />
        </>
      )}
    </DialogForm>
  );
}
