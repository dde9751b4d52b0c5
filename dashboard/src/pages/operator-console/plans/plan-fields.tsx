import type { ErrorOf } from '../../../components/dialog-form.tsx';
import { Field, TextArea } from '../../../components/field.tsx';
import styles from './plan-fields.module.css';
import type { Plan } from './queries.ts';

/** What a form has of a plan, as it is typed. */
interface PlanDraft {
  readonly name: string;
  readonly price: string;
  readonly max_apps: string;
  readonly max_users_per_app: string;
  /** Empty for no limit. */
  readonly max_licenses: string;
  /** One on each line. */
  readonly features: string;
}

export const EMPTY_DRAFT: PlanDraft = {
  name: '',
  price: '',
  max_apps: '10',
  max_users_per_app: '1000',
  max_licenses: '',
  features: '',
};

export const draftOf = (plan: Plan): PlanDraft => ({
  name: plan.name,
  price: String(plan.price),
  max_apps: String(plan.max_apps),
  max_users_per_app: String(plan.max_users_per_app),
  max_licenses: plan.max_licenses === null ? '' : String(plan.max_licenses),
  features: plan.features.join('\n'),
});

/** The quotas of a draft, as the operations take them. */
export const quotasOf = (draft: PlanDraft) => ({
  max_apps: Number(draft.max_apps),
  max_users_per_app: Number(draft.max_users_per_app),
  max_licenses: draft.max_licenses === '' ? null : Number(draft.max_licenses),
});

export const featuresOf = ({ features }: PlanDraft): string[] =>
  features
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

interface Props {
  readonly draft: PlanDraft;
  readonly currency: string;
  readonly priceHint: string;
  readonly hasQuotas: boolean;
  readonly errorOf: ErrorOf;
  readonly onChange: (draft: PlanDraft) => void;
}

const COUNT = { type: 'number', min: 0, max: 2_147_483_647, step: 1 } as const;

/** The fields that a new plan and an old one have in common. */
export function PlanFields({ draft, currency, priceHint, hasQuotas, errorOf, onChange }: Props) {
  const bind = (name: keyof PlanDraft) => ({
    value: draft[name],
    onChange: ({ target }: { target: HTMLInputElement | HTMLTextAreaElement }) =>
      onChange({ ...draft, [name]: target.value }),
  });
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={100}
        hint="Developers see it. A name can be used once for each period."
        error={errorOf('name')}
        {...bind('name')}
      />
      <Field
        label={`Price in ${currency}`}
        required
        type="number"
        inputMode="decimal"
        min={0}
        step="any"
        hint={priceHint}
        error={errorOf('price')}
        {...bind('price')}
      />
      {hasQuotas && (
        <div className={styles.quotas}>
          <Field
            label="Applications"
            required
            {...COUNT}
            hint="How many a developer can have."
            error={errorOf('max_apps')}
            {...bind('max_apps')}
          />
          <Field
            label="Users per application"
            required
            {...COUNT}
            hint="Registrations above it are refused."
            error={errorOf('max_users_per_app')}
            {...bind('max_users_per_app')}
          />
          <Field
            label="License keys (optional)"
            {...COUNT}
            placeholder="No limit"
            hint="How many can be generated while on the plan."
            error={errorOf('max_licenses')}
            {...bind('max_licenses')}
          />
        </div>
      )}
      <TextArea
        label="Features (optional)"
        hint="One on each line, at most 50. Developers see them in the list of plans. They change nothing else."
        error={errorOf('features')}
        {...bind('features')}
      />
    </>
  );
}
