import { Link } from '@tanstack/react-router';
import { buttonClass } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Icon } from '../../../components/icon.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { formatMoney } from '../../../lib/format.ts';
import { PERIODS } from '../../../lib/period.ts';
import { oneOf } from '../../../lib/search.ts';
import { Page, Stack } from '../../../shell/page.tsx';
import { type OwnReseller, useOwnReseller } from '../queries.ts';
import styles from './home.module.css';
import { Prices } from './prices.tsx';
import { resellerHomeRoute } from './route.ts';
import { Sales } from './sales.tsx';

/** What a reseller has, sells, and can buy. */
export function ResellerHomePage() {
  const reseller = useOwnReseller();
  const { days } = resellerHomeRoute.useSearch();
  const navigate = resellerHomeRoute.useNavigate();
  return (
    <Page title={<bdi>{reseller.data?.name ?? 'Reseller'}</bdi>}>
      {reseller.isLoadingError ? (
        <ErrorState error={reseller.error} onRetry={() => void reseller.refetch()} />
      ) : reseller.data ? (
        <Stack>
          <Balance reseller={reseller.data} />
          <Sales
            days={oneOf(PERIODS, days) ?? '30'}
            onDays={(next) => void navigate({ search: { days: next }, replace: true, resetScroll: false })}
          />
          <Prices reseller={reseller.data} />
        </Stack>
      ) : (
        <Loading what="your account" lines={8} />
      )}
    </Page>
  );
}

/** The balance, and what keeps it from being used. */
function Balance({ reseller }: { readonly reseller: OwnReseller }) {
  const { balance, currency, owed = 0, waiting = 0, commission_margin: margin, suspended } = reseller;
  return (
    <section aria-label="Balance" className={styles.balance}>
      <div className={styles.amounts}>
        <h2 className={styles.label}>Balance</h2>
        <p className={styles.amount}>{formatMoney(balance, currency)}</p>
        <p className={styles.note}>
          {margin > 0
            ? `You keep ${margin}% of each price as your commission.`
            : `All amounts are in ${currency}.`}
        </p>
      </div>
      <div className={styles.actions}>
        <Link to="/reseller/buy" className={buttonClass({ look: 'primary' })}>
          <Icon name="plus" />
          Buy keys
        </Link>
        <Link to="/reseller/ledger" className={buttonClass()}>
          Ledger
        </Link>
      </div>
      {suspended && (
        <Callout tone="bad">
          The developer has suspended you. You can read everything here, but not buy or return keys. Contact
          the developer.
        </Callout>
      )}
      {owed > 0 && (
        <Callout tone="warn">
          You owe {formatMoney(owed, currency)}, because a payment for your balance was refunded or disputed
          after you had spent it. What is added to your balance covers this first.
        </Callout>
      )}
      {waiting > 0 && (
        <Callout>
          {formatMoney(waiting, currency)} of your payments is waiting, because your balance has reached its
          maximum. It is added as you spend.
        </Callout>
      )}
    </section>
  );
}
