import { Field, Select } from '../../components/field.tsx';
import { FilterBar } from '../../components/data-table/filter-bar.tsx';
import { SearchField } from '../../components/data-table/toolbar.tsx';
import { startOfDay, startOfToday } from '../../lib/days.ts';
import { flagOf, oneOf } from '../../lib/search.ts';
import type { UserFilter } from './queries.ts';

const SUBSCRIPTIONS = ['active', 'expired', 'none'] as const;
const SORTS = [
  ['-created_at', 'Newest first'],
  ['username', 'By name'],
  ['expires_at', 'Ending soon first'],
] as const;

const ENDS = ['7', '30', '90'] as const;
/** The filters that open on demand. */
const MORE = ['tier', 'endsSince', 'banned', 'hwid_bound', 'createdSince'] as const;

/** What the address says. Times are whole days of the reader, so that the same list stays the same. */
type UserSearch = Readonly<
  Partial<Record<'q' | 'banned' | 'tier' | 'machine' | 'since' | 'subscription' | 'ends' | 'sort', string>>
>;

/** The filter of an address. What the contract does not know is ignored. */
export function readFilter(search: UserSearch): UserFilter {
  const days = oneOf(ENDS, search.ends);
  return {
    q: search.q,
    banned: flagOf(search.banned),
    tier: search.tier,
    hwid_bound: flagOf(search.machine),
    subscription: oneOf(SUBSCRIPTIONS, search.subscription),
    createdSince: startOfDay(search.since),
    ...(days && {
      endsSince: startOfToday(),
      // The first day is the rest of today.
      endsUntil: startOfToday(Number(days)),
    }),
    sort: oneOf(
      SORTS.map(([sort]) => sort),
      search.sort,
    ),
  };
}

interface Props {
  readonly search: UserSearch;
  readonly tiers: readonly string[];
  readonly onChange: (members: UserSearch) => void;
}

/** Which users the list shows, and in which order. */
export function UserFilters({ search, tiers, onChange }: Props) {
  const filter = readFilter(search);
  return (
    <FilterBar
      active={MORE.filter((name) => filter[name] !== undefined).length}
      more={<MoreFilters search={search} tiers={tiers} onChange={onChange} />}
    >
      <SearchField
        label="Start of a name or email"
        value={search.q ?? ''}
        onChange={(q) => onChange({ q })}
      />
      <Select
        bare
        label="Subscription"
        value={filter.subscription ?? ''}
        options={[
          ['', 'Any subscription'],
          ['active', 'Active'],
          ['expired', 'Expired'],
          ['none', 'No subscription'],
        ]}
        onChange={({ target }) => onChange({ subscription: target.value })}
      />
      <Select
        bare
        label="Order"
        value={filter.sort ?? '-created_at'}
        options={SORTS}
        onChange={({ target }) => onChange({ sort: target.value })}
      />
    </FilterBar>
  );
}

function MoreFilters({ search, tiers, onChange }: Props) {
  const filter = readFilter(search);
  return (
    <>
      <Select
        label="Tier"
        value={search.tier ?? ''}
        options={[['', 'Any tier'], ...tiers.map((tier) => [tier, tier] as const)]}
        onChange={({ target }) => onChange({ tier: target.value })}
      />
      <Select
        label="End of the subscription"
        value={oneOf(ENDS, search.ends) ?? ''}
        options={[['', 'Any time'], ...ENDS.map((days) => [days, `In ${days} days`] as const)]}
        onChange={({ target }) => onChange({ ends: target.value })}
      />
      <Select
        label="Ban"
        value={search.banned ?? ''}
        options={[
          ['', 'Banned or not'],
          ['true', 'Banned'],
          ['false', 'Not banned'],
        ]}
        onChange={({ target }) => onChange({ banned: target.value })}
      />
      <Select
        label="Machine"
        value={search.machine ?? ''}
        options={[
          ['', 'Bound or not'],
          ['true', 'Bound'],
          ['false', 'Not bound'],
        ]}
        onChange={({ target }) => onChange({ machine: target.value })}
      />
      <Field
        label="Created since"
        type="date"
        value={(filter.createdSince && search.since) ?? ''}
        onChange={({ target }) => onChange({ since: target.value })}
      />
    </>
  );
}
