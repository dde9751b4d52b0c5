import { filterList } from '../../../api/pages.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { type Column, DataTable } from '../../../components/data-table/data-table.tsx';
import { Toolbar } from '../../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { Select } from '../../../components/field.tsx';
import { NameButton } from '../../../components/name.tsx';
import { useChangeSearch } from '../../../lib/change-search.ts';
import { Page } from '../../../shell/page.tsx';
import { CreatePlanDialog } from './create-plan-dialog.tsx';
import { PlanDrawer } from './plan-drawer.tsx';
import { contentOf, KIND_NAMES, priceOf } from './plan-words.ts';
import { type Plan, usePlans } from './queries.ts';
import { plansRoute } from './route.ts';

/** What developers can buy, and what they could. */
export function PlansPage() {
  const search = plansRoute.useSearch();
  const plans = usePlans();
  const isHiding = search.archived === 'no';
  const list = isHiding ? filterList(plans, ({ archived }) => !archived) : plans;
  const change = useChangeSearch(plansRoute);
  const create = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create plan
    </Button>
  );
  return (
    <Page
      title="Plans"
      description="What developers can buy: plans with quotas, and packs that they buy in addition."
      actions={create}
    >
      <Toolbar>
        <Select
          bare
          label="Archived plans"
          value={isHiding ? 'no' : ''}
          options={[
            ['', 'All plans'],
            ['no', 'For sale'],
          ]}
          onChange={({ target }) => change({ archived: target.value })}
        />
      </Toolbar>
      <DataTable
        label="plans"
        list={list}
        columns={columns((plan) => change({ plan }))}
        idOf={({ plan_id }) => plan_id}
        nameOf={({ name }) => name}
        currentId={search.plan}
        empty={
          <EmptyState icon="layers" title="No plans for sale" action={create}>
            Developers stay on the free plan until you sell another one.
          </EmptyState>
        }
      />
      <CreatePlanDialog open={search.create !== undefined} onClose={() => change({ create: '' })} />
      <PlanDrawer planId={search.plan} onClose={() => change({ plan: '' })} />
    </Page>
  );
}

const columns = (onOpen: (id: string) => void): readonly Column<Plan>[] => [
  {
    id: 'name',
    header: 'Name',
    cell: ({ plan_id, name }) => <NameButton onClick={() => onOpen(plan_id)}>{name}</NameButton>,
  },
  { id: 'kind', header: 'Kind', width: '8rem', from: 'desktop', cell: ({ kind }) => KIND_NAMES[kind] },
  { id: 'price', header: 'Price', width: '9.5rem', cell: priceOf },
  { id: 'content', header: 'Includes', width: '38%', from: 'tablet', cell: contentOf },
  {
    id: 'state',
    header: 'State',
    width: '6.5rem',
    cell: ({ archived }) => (
      <Badge tone={archived ? 'neutral' : 'good'}>{archived ? 'archived' : 'for sale'}</Badge>
    ),
  },
];
