import { useState } from 'react';
import type { Schemas } from '../../../api/client.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { DialogForm } from '../../../components/dialog-form.tsx';
import { Field, Select } from '../../../components/field.tsx';
import { toast } from '../../../components/toast.tsx';
import { EMPTY_DRAFT, featuresOf, PlanFields, quotasOf } from './plan-fields.tsx';
import styles from './plan-fields.module.css';
import { createPlan, type Plan, usePlansChanged } from './queries.ts';

const KINDS: readonly (readonly [Plan['kind'], string])[] = [
  ['subscription', 'Plan with quotas'],
  ['license_quota', 'Pack of license keys'],
  ['reseller_balance', 'Pack for the balance of a reseller'],
];

const EXPLAINED: Readonly<Record<Plan['kind'], string>> = {
  subscription: 'A developer is on one plan at a time.',
  license_quota: 'Adds to the keys that the plan allows. Paid once.',
  reseller_balance: 'A developer pays, and the balance of one of their resellers grows. Paid once.',
};

const PERIODS: readonly (readonly [Plan['period'], string])[] = [
  ['monthly', 'Every month'],
  ['yearly', 'Every year'],
  ['lifetime', 'Once'],
];

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Puts a plan or a pack up for sale. */
export function CreatePlanDialog({ open, onClose }: Props) {
  return (
    <Dialog kind="wide" open={open} onClose={onClose} title="Create a plan">
      <CreateForm onClose={onClose} />
    </Dialog>
  );
}

function CreateForm({ onClose }: Pick<Props, 'onClose'>) {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [terms, setTerms] = useState({
    kind: 'subscription' as Plan['kind'],
    period: 'monthly' as Plan['period'],
    currency: 'USD',
    adds: '',
  });
  const changed = usePlansChanged();
  const { kind, period, currency, adds } = terms;
  const set = (members: Partial<typeof terms>) => setTerms({ ...terms, ...members });

  const submit = async () => {
    const features = featuresOf(draft);
    const body: Schemas['CreatePlanRequest'] = {
      kind,
      name: draft.name,
      price: Number(draft.price),
      currency,
      ...(features.length > 0 && { features }),
      ...(kind === 'subscription' && { period, ...quotasOf(draft) }),
      ...(kind === 'license_quota' && { licenses: Number(adds) }),
      ...(kind === 'reseller_balance' && { balance: Number(adds) }),
    };
    await createPlan(body);
    await changed();
    toast(`${draft.name} is for sale.`);
  };

  return (
    <DialogForm action="Create plan" onClose={onClose} onSubmit={submit}>
      {(errorOf) => (
        <>
          <Select
            label="Kind"
            value={kind}
            options={KINDS}
            hint={EXPLAINED[kind]}
            error={errorOf('kind')}
            onChange={({ target }) => set({ kind: target.value as Plan['kind'] })}
          />
          <div className={styles.pair}>
            <Field
              label="Currency"
              required
              value={currency}
              maxLength={3}
              pattern="[A-Z]{3}"
              autoComplete="off"
              hint="Three letters, such as USD. It never changes."
              error={errorOf('currency')}
              onChange={({ target }) => set({ currency: target.value.toUpperCase() })}
            />
            {kind === 'subscription' ? (
              <Select
                label="Paid"
                value={period}
                options={PERIODS}
                hint="It never changes."
                error={errorOf('period')}
                onChange={({ target }) => set({ period: target.value as Plan['period'] })}
              />
            ) : (
              <Field
                label={kind === 'license_quota' ? 'License keys that it adds' : 'Balance that it adds'}
                required
                type="number"
                min={kind === 'license_quota' ? 1 : 0}
                step={kind === 'license_quota' ? 1 : 'any'}
                value={adds}
                hint="It never changes."
                error={errorOf(kind === 'license_quota' ? 'licenses' : 'balance')}
                onChange={({ target }) => set({ adds: target.value })}
              />
            )}
          </div>
          <PlanFields
            draft={draft}
            currency={currency}
            priceHint={
              kind === 'subscription' && period !== 'lifetime' ? 'For each period. 0 is free.' : 'Paid once.'
            }
            hasQuotas={kind === 'subscription'}
            errorOf={errorOf}
            onChange={setDraft}
          />
        </>
      )}
    </DialogForm>
  );
}
