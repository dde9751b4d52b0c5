import type { ReactNode } from 'react';
import { IconButton } from '../../components/button.tsx';
import { Checkbox, Field, Select } from '../../components/field.tsx';
import type { ErrorOf } from '../../components/dialog-form.tsx';
import { formatMoney } from '../../lib/format.ts';
import type { Reseller } from '../resellers/queries.ts';
import { costOf, type PriceDraft } from './price-draft.ts';
import styles from './reseller.module.css';

/** An application whose keys can have a price. */
export interface PricedApplication {
  readonly app_id: string;
  readonly name: string;
  readonly tiers: readonly string[];
}

interface Props {
  readonly number: number;
  readonly draft: PriceDraft;
  readonly reseller: Reseller;
  readonly applications: readonly PricedApplication[];
  readonly errorOf: ErrorOf;
  readonly onChange: (draft: PriceDraft) => void;
  readonly onRemove: () => void;
}

/** One price, which can be edited in place. */
export function PriceRow({ number, draft, reseller, applications, errorOf, onChange, onRemove }: Props) {
  const change = (members: Partial<PriceDraft>) => onChange({ ...draft, ...members });
  const tiersOf = (appId: string) => applications.find(({ app_id }) => app_id === appId)?.tiers ?? [];
  const choose = (app_id: string) => {
    const tiers = tiersOf(app_id);
    change({ app_id, tier: tiers.includes(draft.tier) ? draft.tier : (tiers[0] ?? '') });
  };
  const cost =
    draft.price === ''
      ? undefined
      : costOf(Number(draft.price), reseller.commission_margin, reseller.currency);
  return (
    <li className={styles.price}>
      <div className={styles.application}>
        <Caption>Application</Caption>
        <Select
          bare
          label={`Application of price ${number}`}
          value={draft.app_id}
          error={errorOf('app_id')}
          options={applications.map(({ app_id, name }) => [app_id, name])}
          onChange={({ target }) => choose(target.value)}
        />
      </div>
      <div className={styles.tier}>
        <Caption>Tier</Caption>
        <Select
          bare
          label={`Tier of price ${number}`}
          value={draft.tier}
          error={errorOf('tier')}
          options={tiersOf(draft.app_id).map((tier) => [tier, tier])}
          onChange={({ target }) => change({ tier: target.value })}
        />
      </div>
      <div className={styles.duration}>
        <Caption>Duration</Caption>
        <Field
          bare
          label={`Days of price ${number}`}
          type="number"
          min={1}
          max={36_500}
          required={!draft.lifetime}
          disabled={draft.lifetime}
          placeholder="Days"
          value={draft.lifetime ? '' : draft.days}
          error={errorOf('duration_days')}
          onChange={({ target }) => change({ days: target.value })}
        />
        <Checkbox
          label="Lifetime"
          checked={draft.lifetime}
          onChange={({ target }) => change({ lifetime: target.checked })}
        />
      </div>
      <div>
        <Caption>Price in {reseller.currency}</Caption>
        <Field
          bare
          label={`Price ${number} in ${reseller.currency}`}
          type="number"
          inputMode="decimal"
          required
          min={0}
          step="any"
          placeholder="Price"
          value={draft.price}
          error={errorOf('price')}
          onChange={({ target }) => change({ price: target.value })}
        />
      </div>
      <span className={styles.cost}>
        <span className="visually-hidden">They pay </span>
        <Caption>They pay</Caption>
        {cost === undefined || !Number.isFinite(cost) ? '—' : formatMoney(cost, reseller.currency)}
      </span>
      <IconButton
        className={styles.remove}
        label={`Remove price ${number}`}
        icon="close"
        onClick={onRemove}
      />
    </li>
  );
}

/** What a control is, where there is no row of headings. Its own label says it, too. */
const Caption = ({ children }: { readonly children: ReactNode }) => (
  <span aria-hidden="true" className={styles.caption}>
    {children}
  </span>
);
