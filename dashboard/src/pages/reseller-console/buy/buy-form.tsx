import { type FormEvent, useState } from 'react';
import { asProblem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Field, Select } from '../../../components/field.tsx';
import { formatDuration, formatMoney, formatNumber, plural } from '../../../lib/format.ts';
import { applicationsOf, type OwnReseller, type Price } from '../queries.ts';
import { AmountField } from './amount-field.tsx';
import { Bought } from './bought.tsx';
import styles from './buy.module.css';
import { type Outdated, usePurchase } from './queries.ts';

const AT_MOST = 1_000;

interface Wanted {
  readonly app?: string;
  readonly tier?: string;
  readonly days?: string;
}

interface Props {
  readonly reseller: OwnReseller;
  /** The price that the address names. */
  readonly wanted: Wanted;
  readonly onWant: (wanted: Wanted) => void;
}

const daysOf = ({ duration_days: days }: Price) => String(days ?? 'lifetime');
const wantedOf = (price: Price): Wanted => ({ app: price.app_id, tier: price.tier, days: daysOf(price) });

/** What to buy and how many, with the cost before it is paid. */
export function BuyForm({ reseller, wanted, onWant }: Props) {
  const { prices, balance, currency, suspended } = reseller;
  const [amount, setAmount] = useState('1');
  const [note, setNote] = useState('');
  const appId = prices.some(({ app_id }) => app_id === wanted.app) ? wanted.app! : prices[0]!.app_id;
  const offered = prices.filter(({ app_id }) => app_id === appId);
  const price =
    offered.find((each) => each.tier === wanted.tier && daysOf(each) === wanted.days) ?? offered[0]!;
  const count = /^\d+$/.test(amount) ? Number(amount) : 0;
  const purchase = usePurchase();
  const isValid = count >= 1 && count <= AT_MOST;
  const cost = price.cost * count;
  const rest = balance - cost;
  // Amounts have at most 3 decimals, and sums of doubles more.
  const isShort = isValid && rest < -0.0005;
  const most = price.cost > 0 ? Math.floor((balance + 0.0005) / price.cost) : 0;
  const money = (value: number) => formatMoney(value, currency);

  const want = (next: Wanted) => {
    purchase.reset();
    onWant(next);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    purchase.mutate({ price, amount: count, note });
  };

  if (typeof purchase.data === 'object') {
    return <Bought purchase={purchase.data} appName={price.app_name} onMore={() => purchase.reset()} />;
  }
  return (
    <form className={styles.form} onSubmit={submit}>
      {applicationsOf(reseller).length > 1 && (
        <Select
          label="Application"
          value={appId}
          options={applicationsOf(reseller)}
          onChange={({ target }) => want({ app: target.value })}
        />
      )}
      <fieldset>
        <legend className={styles.legend}>Key</legend>
        <div className={styles.prices}>
          {offered.map((each) => (
            <label key={`${each.tier} ${daysOf(each)}`} className={styles.price}>
              <input
                type="radio"
                name="price"
                checked={each === price}
                onChange={() => want(wantedOf(each))}
              />
              <span className={styles.what}>
                <bdi>{each.tier}</bdi>
                <span>{formatDuration(each.duration_days)}</span>
              </span>
              <span className={styles.cost}>{money(each.cost)}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <AmountField value={amount} most={AT_MOST} onChange={setAmount} />
      <Field
        label="Note (optional)"
        value={note}
        maxLength={500}
        placeholder="Order 1042"
        hint="You and the developer see it in the ledger."
        onChange={({ target }) => setNote(target.value)}
      />
      <div className={styles.bar}>
        <dl className={styles.sum}>
          <div>
            <dt>{isValid ? `${formatNumber(count)} × ${money(price.cost)}` : 'Cost'}</dt>
            <dd className={styles.total}>{isValid ? money(cost) : '—'}</dd>
          </div>
          <div>
            <dt>Balance after it</dt>
            <dd>{isValid ? money(rest) : money(balance)}</dd>
          </div>
        </dl>
        {isShort && (
          <Callout tone="warn">
            You are {money(-rest)} short. {most >= 1 && `You can buy at most ${plural(most, 'key')}. `}
            The developer can add to your balance.
          </Callout>
        )}
        {suspended && <Callout tone="bad">The developer has suspended you, so you cannot buy keys.</Callout>}
        <div role="status">{purchase.data && <Callout tone="warn">{OUTDATED[purchase.data]}</Callout>}</div>
        {purchase.error && <Refusal error={purchase.error} />}
        <Button
          type="submit"
          look="primary"
          busy={purchase.isPending}
          disabled={!isValid || isShort || suspended}
        >
          {isValid ? `Buy ${plural(count, 'key')} for ${money(cost)}` : 'Buy keys'}
        </Button>
      </div>
    </form>
  );
}

const OUTDATED: Readonly<Record<Outdated, string>> = {
  changed: 'The developer has just changed this price, and nothing was bought now. Check the cost, then buy.',
  removed:
    'The developer has just removed this price, and nothing was bought now. Check what is selected, then buy.',
};

const ADVICE: Readonly<Record<string, string>> = {
  INSUFFICIENT_BALANCE:
    'Someone else spent from the balance in the meantime. Buy fewer keys, or contact the developer for credit.',
  PRICE_NOT_FOUND: 'The developer has removed this price. Reload the page to see your prices.',
  QUOTA_EXCEEDED:
    "The developer's plan does not allow more keys. Contact the developer. Nothing was deducted.",
  INSUFFICIENT_SCOPE: 'Your token can only read. You need one from the developer that can write.',
};

function Refusal({ error }: { readonly error: unknown }) {
  const advice = ADVICE[asProblem(error).code ?? ''];
  return (
    <>
      <ErrorState error={error} compact />
      {advice && <Callout>{advice}</Callout>}
    </>
  );
}
