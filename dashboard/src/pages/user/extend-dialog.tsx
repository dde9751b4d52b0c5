import { useState } from 'react';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, Field, Select } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { useApplication } from '../../shell/queries.ts';
import { type User, userActions, useUsersChanged } from '../users/queries.ts';

interface Props {
  readonly appId: string;
  readonly user: User;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Adds time to a subscription without a key. */
export function ExtendDialog({ open, ...props }: Props) {
  return (
    <Dialog open={open} onClose={props.onClose} title="Extend the subscription">
      <ExtendForm {...props} />
    </Dialog>
  );
}

function ExtendForm({ appId, user, onClose }: Omit<Props, 'open'>) {
  const tiers = useApplication(appId).data?.tiers ?? [];
  const [chosen, setTier] = useState(user.subscription.tier);
  const [days, setDays] = useState('30');
  const [isLifetime, setLifetime] = useState(false);
  const changed = useUsersChanged(appId);
  const tier = chosen ?? tiers[0] ?? '';
  const submit = async () => {
    const added = isLifetime ? { lifetime: true } : { days: Number(days) };
    await userActions(appId, user.user_id).extend({ tier, ...added });
    await changed();
    toast('Subscription extended.');
  };
  return (
    <DialogForm action="Extend" onClose={onClose} onSubmit={submit}>
      {(errorOf) => (
        <>
          <Select
            label="Tier"
            value={tier}
            options={tiers.map((name) => [name, name])}
            error={errorOf('tier')}
            onChange={({ target }) => setTier(target.value)}
          />
          <Field
            label="Days"
            type="number"
            min={1}
            max={36_500}
            required={!isLifetime}
            disabled={isLifetime}
            value={isLifetime ? '' : days}
            error={errorOf('days')}
            onChange={({ target }) => setDays(target.value)}
          />
          <Checkbox
            label="Lifetime"
            checked={isLifetime}
            onChange={({ target }) => setLifetime(target.checked)}
          />
        </>
      )}
    </DialogForm>
  );
}
