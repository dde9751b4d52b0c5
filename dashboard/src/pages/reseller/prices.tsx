import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { applicationsQuery } from '../../shell/queries.ts';
import { type Reseller, useResellersChanged } from '../resellers/queries.ts';
import { nextRow, type PriceDraft, toDraft, toInput } from './price-draft.ts';
import { PriceRow, type PricedApplication } from './price-row.tsx';
import { type Price, pricesQuery, resellerActions } from './queries.ts';
import styles from './reseller.module.css';

const AT_MOST = 500;

/** What keys cost a reseller. */
export function Prices({ reseller }: { readonly reseller: Reseller }) {
  const prices = useQuery(pricesQuery(reseller.reseller_id));
  const applications = useQuery(applicationsQuery);
  const failed = [prices, applications].find(({ isLoadingError }) => isLoadingError);
  if (failed) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (!prices.data || !applications.data) return <Loading what="the prices" />;
  const saved = prices.data.data;
  return (
    <Editor reseller={reseller} saved={saved} applications={withPriced(applications.data.data, saved)} />
  );
}

/** The newest applications, and those that already have a price. */
function withPriced(
  newest: readonly PricedApplication[],
  saved: readonly Price[],
): readonly PricedApplication[] {
  const known = new Map(newest.map((application) => [application.app_id, application]));
  for (const { app_id, app_name, tier } of saved) {
    const tiers = known.get(app_id)?.tiers ?? [];
    if (!tiers.includes(tier)) known.set(app_id, { app_id, name: app_name, tiers: [...tiers, tier] });
  }
  return [...known.values()];
}

interface EditorProps {
  readonly reseller: Reseller;
  readonly saved: readonly Price[];
  readonly applications: readonly PricedApplication[];
}

function Editor({ reseller, saved, applications }: EditorProps) {
  const { draft, change, discard, isChanged, accept } = useDraft({ prices: saved.map(toDraft) });
  const drafts = draft.prices;
  const setDrafts = (prices: PriceDraft[]) => change({ prices });
  const changed = useResellersChanged();
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: ({ prices }: typeof draft) =>
      resellerActions(reseller.reseller_id).setPrices(prices.map(toInput)),
    onSuccess: async (list, sent) => {
      client.setQueryData(pricesQuery(reseller.reseller_id).queryKey, list);
      accept(sent);
      await changed();
      toast('Prices saved.');
    },
  });
  const problem = saving.error ? asProblem(saving.error) : undefined;
  const replace = (at: number, draft: PriceDraft) => setDrafts(drafts.with(at, draft));
  const add = () => {
    const like = drafts.at(-1);
    const application = applications[0];
    const { app_id = '', tier = '' } = like ?? { app_id: application?.app_id, tier: application?.tiers[0] };
    setDrafts([...drafts, { row: nextRow(), app_id, tier, days: '30', lifetime: false, price: '' }]);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(draft);
  };
  const addButton = (
    <Button icon="plus" disabled={drafts.length >= AT_MOST || applications.length === 0} onClick={add}>
      Add a price
    </Button>
  );
  return (
    <Card
      title="Prices"
      description={
        'The reseller can buy only keys that are in this list. They pay the price minus their ' +
        `commission of ${reseller.commission_margin}%.`
      }
    >
      <form onSubmit={submit} className={styles.prices}>
        {drafts.length === 0 ? (
          <EmptyState icon="key" title="No prices" action={addButton}>
            {applications.length === 0
              ? 'Create an application first. Its tiers can then have prices.'
              : 'Without a price, the reseller cannot buy any keys.'}
          </EmptyState>
        ) : (
          <>
            <div className={styles.heading} aria-hidden="true">
              <span>Application</span>
              <span>Tier</span>
              <span>Duration</span>
              <span>Price in {reseller.currency}</span>
              <span className={styles.cost}>They pay</span>
            </div>
            <ol className={styles.prices}>
              {drafts.map((draft, at) => (
                <PriceRow
                  key={draft.row}
                  number={at + 1}
                  draft={draft}
                  reseller={reseller}
                  applications={applications}
                  errorOf={(member) =>
                    problem?.details.errors?.find(({ pointer }) => pointer === `/prices/${at}/${member}`)
                      ?.detail
                  }
                  onChange={(next) => replace(at, next)}
                  onRemove={() => setDrafts(drafts.toSpliced(at, 1))}
                />
              ))}
            </ol>
          </>
        )}
        {saving.error && <ErrorState error={saving.error} compact />}
        {(drafts.length > 0 || isChanged()) && (
          <div className={styles.actions}>
            {drafts.length > 0 && addButton}
            <Button type="submit" look="primary" busy={saving.isPending} disabled={!isChanged()}>
              Save prices
            </Button>
            {isChanged() && <Button onClick={discard}>Discard changes</Button>}
          </div>
        )}
      </form>
    </Card>
  );
}
