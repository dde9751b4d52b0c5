import { useQuery } from '@tanstack/react-query';
import { filterList } from '../../../api/pages.ts';
import { useSought } from '../../../api/sought.ts';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table/data-table.tsx';
import { SearchField, Toolbar } from '../../../components/data-table/toolbar.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { Select } from '../../../components/field.tsx';
import { INVOICE_STATES } from '../../../components/invoice-state.tsx';
import { useChangeSearch } from '../../../lib/change-search.ts';
import { oneOf } from '../../../lib/search.ts';
import { Page } from '../../../shell/page.tsx';
import { accountQuery } from '../developer/queries.ts';
import { invoiceColumns } from './columns.tsx';
import { InvoiceDrawer } from './invoice-drawer.tsx';
import { useInvoices } from './queries.ts';
import { operatorInvoicesRoute } from './route.ts';

/** What developers paid. */
export function OperatorInvoicesPage() {
  const search = operatorInvoicesRoute.useSearch();
  const invoices = useInvoices(search.developer);
  const developer = useQuery({
    ...accountQuery(search.developer ?? ''),
    enabled: search.developer !== undefined,
    retry: false,
  });
  const state = oneOf(
    INVOICE_STATES.map(([value]) => value),
    search.state,
  );
  const list = state ? filterList(invoices, (invoice) => invoice.state === state) : invoices;
  const { item, isSought } = useSought(invoices, search.invoice, ({ invoice_id }) => invoice_id);
  const change = useChangeSearch(operatorInvoicesRoute);

  return (
    <Page
      title="Invoices"
      description={
        developer.data ? (
          <>
            Payments of <bdi>{developer.data.email}</bdi>, newest first.
          </>
        ) : (
          'Payments of all developers for plans and packs, newest first.'
        )
      }
    >
      <Toolbar>
        <SearchField
          label="Identifier of a developer"
          value={search.developer ?? ''}
          onChange={(value) => change({ developer: value.trim() })}
        />
        <Select
          bare
          label="State"
          value={state ?? ''}
          options={[['', 'Any state'], ...INVOICE_STATES]}
          onChange={({ target }) => change({ state: target.value })}
        />
      </Toolbar>
      <DataTable
        label="invoices"
        list={list}
        columns={invoiceColumns((invoice) => change({ invoice }))}
        idOf={({ invoice_id }) => invoice_id}
        nameOf={({ number, invoice_id }) => number ?? invoice_id}
        currentId={search.invoice}
        empty={
          search.developer || state ? (
            <EmptyState
              icon="search"
              title="No invoice matches"
              action={<Button onClick={() => change({ developer: '', state: '' })}>Clear the filters</Button>}
            >
              The identifier of a developer begins with dev_ and must be complete.
            </EmptyState>
          ) : (
            <EmptyState icon="receipt" title="No invoices yet">
              An invoice appears when a developer pays for a plan or a pack.
            </EmptyState>
          )
        }
      />
      <InvoiceDrawer
        id={search.invoice}
        item={item}
        isSought={isSought}
        onClose={() => change({ invoice: '' })}
      />
    </Page>
  );
}
