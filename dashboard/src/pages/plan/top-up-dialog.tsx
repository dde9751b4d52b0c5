import { useEffect, useState } from 'react';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Select } from '../../components/field.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { formatMoney } from '../../lib/format.ts';
import { useResellers } from '../resellers/queries.ts';
import { payFor, type Plan } from './queries.ts';

interface Props {
  /** The dialog is open while there is a pack. */
  readonly plan: Plan | undefined;
  readonly onClose: () => void;
}

/** Buys a pack of balance for a reseller. */
export function TopUpDialog({ plan, onClose }: Props) {
  return (
    <Dialog open={plan !== undefined} onClose={onClose} title={`Buy ${plan?.name ?? ''}`}>
      {plan && <TopUpForm plan={plan} onClose={onClose} />}
    </Dialog>
  );
}

function TopUpForm({ plan, onClose }: { readonly plan: Plan; readonly onClose: () => void }) {
  const list = useResellers();
  const [chosen, setChosen] = useState<string>();
  const { hasMore, isLoadingMore, error, loadMore } = list;
  useEffect(() => {
    if (hasMore && !isLoadingMore && !error) loadMore();
  }, [hasMore, isLoadingMore, error, loadMore]);
  const { currency = 'USD' } = plan;
  const fitting = list.items.filter((reseller) => reseller.currency === currency);
  const resellerId = chosen ?? fitting[0]?.reseller_id;
  if (error) return <ErrorState error={error} onRetry={list.reload} />;
  if (list.isLoading) return <Loading what="your resellers" />;
  if (resellerId === undefined) {
    return <p>None of your resellers has a balance in {currency}. Create one on the page Resellers first.</p>;
  }
  return (
    <DialogForm action="Go to payment" onClose={onClose} onSubmit={() => payFor(plan.id, resellerId)}>
      {(errorOf) => (
        <Select
          label="Reseller"
          value={resellerId}
          options={fitting.map(({ reseller_id, name, balance }) => [
            reseller_id,
            `${name} (${formatMoney(balance, currency)})`,
          ])}
          hint="The balance grows when the payment is confirmed."
          error={errorOf('reseller_id')}
          onChange={({ target }) => setChosen(target.value)}
        />
      )}
    </DialogForm>
  );
}
