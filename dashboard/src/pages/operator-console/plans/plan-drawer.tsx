import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { Facts } from '../../../components/card.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { DialogForm } from '../../../components/dialog-form.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toast.tsx';
import { useDraft } from '../../../lib/draft.ts';
import { useLast } from '../../../lib/last.ts';
import { draftOf, featuresOf, PlanFields, quotasOf } from './plan-fields.tsx';
import { contentOf, KIND_NAMES } from './plan-words.ts';
import { archivePlan, type Plan, planQuery, updatePlan, usePlansChanged } from './queries.ts';

interface Props {
  readonly planId: string | undefined;
  readonly onClose: () => void;
}

/** One plan: what it is, and what can be changed. */
export function PlanDrawer({ planId, onClose }: Props) {
  const shown = useLast(planId);
  const plan = useQuery({ ...planQuery(shown ?? ''), enabled: planId !== undefined });
  return (
    <Dialog kind="drawer" open={planId !== undefined} onClose={onClose} title={plan.data?.name ?? 'Plan'}>
      {plan.isLoadingError ? (
        <ErrorState error={plan.error} onRetry={() => void plan.refetch()} />
      ) : plan.data ? (
        <Details key={plan.data.plan_id} plan={plan.data} onClose={onClose} />
      ) : (
        <Loading what="the plan" />
      )}
    </Dialog>
  );
}

function Details({ plan, onClose }: { readonly plan: Plan; readonly onClose: () => void }) {
  const { draft, change, isChanged, changesOf } = useDraft(draftOf(plan));
  const [isArchiving, setIsArchiving] = useState(false);
  const changed = usePlansChanged();
  const hasQuotas = plan.kind === 'subscription';
  const save = async () => {
    const changes = changesOf({
      name: draft.name,
      price: Number(draft.price),
      features: featuresOf(draft),
      ...(hasQuotas && quotasOf(draft)),
    });
    await updatePlan(plan.plan_id, changes);
    await changed();
    toast(`${draft.name} saved.`);
  };
  return (
    <>
      <Facts
        facts={[
          ['Kind', KIND_NAMES[plan.kind]],
          [
            'State',
            <Badge key="state" tone={plan.archived ? 'neutral' : 'good'}>
              {plan.archived ? 'archived' : 'for sale'}
            </Badge>,
          ],
          ...(hasQuotas ? [] : [['Content', contentOf(plan)] as const]),
          ['Paid', plan.period === 'lifetime' ? 'Once' : plan.period],
          ['Created', <Time key="created" value={plan.created_at} />],
          ['Identifier', <code key="id">{plan.plan_id}</code>],
        ]}
      />
      <Callout>
        {hasQuotas
          ? 'New quotas apply now to every developer on the plan. A new price applies to later purchases only.'
          : 'A new price applies to later purchases only.'}
      </Callout>
      <DialogForm action="Save" onClose={onClose} onSubmit={save} isDisabled={!isChanged()}>
        {(errorOf) => (
          <PlanFields
            draft={draft}
            currency={plan.currency}
            priceHint="Current subscriptions keep their price."
            hasQuotas={hasQuotas}
            errorOf={errorOf}
            onChange={change}
          />
        )}
      </DialogForm>
      {!plan.archived && (
        <>
          <div>
            <Button onClick={() => setIsArchiving(true)}>Archive</Button>
          </div>
          <ConfirmDialog
            open={isArchiving}
            onClose={() => setIsArchiving(false)}
            title="Archive this plan?"
            description={
              'It is no longer for sale, and cannot be put up for sale again. Developers on the plan stay on it, and ' +
              'their subscriptions are renewed.'
            }
            action="Archive"
            onConfirm={async () => {
              await archivePlan(plan.plan_id);
              await changed();
              toast(`${plan.name} is archived.`);
            }}
          />
        </>
      )}
    </>
  );
}
