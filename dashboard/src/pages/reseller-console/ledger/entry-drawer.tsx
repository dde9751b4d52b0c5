import type { ReactNode } from 'react';
import { Callout } from '../../../components/callout.tsx';
import { Facts } from '../../../components/card.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Time } from '../../../components/time.tsx';
import { formatDuration, formatNumber } from '../../../lib/format.ts';
import { useLast } from '../../../lib/last.ts';
import { applicationName, type OwnReseller } from '../queries.ts';
import { Change, KIND_NAMES } from './columns.tsx';
import type { LedgerEntry } from './queries.ts';

const EXPLAINED: Readonly<Record<LedgerEntry['kind'], string>> = {
  credit: 'The developer added money.',
  debit: 'The developer deducted money.',
  generation: 'The list price of keys that you bought.',
  refund: 'The list price of a key that you returned.',
  commission: 'Your part of the list price. It is negative for a key that you returned.',
  top_up: 'A payment for your balance.',
  reversal: 'A payment for your balance was refunded or disputed.',
};

interface Props {
  readonly id: string | undefined;
  readonly item: LedgerEntry | undefined;
  readonly isSought: boolean;
  readonly reseller: OwnReseller | undefined;
  readonly money: (value: number) => string;
  readonly onClose: () => void;
}

/** The details of one change of the balance. */
export function EntryDrawer({ id, item, isSought, reseller, money, onClose }: Props) {
  const shown = useLast(item);
  const details = id === undefined ? shown : item;
  return (
    <Dialog
      kind="drawer"
      open={id !== undefined}
      onClose={onClose}
      title={details ? KIND_NAMES[details.kind] : 'Entry'}
      description={details && EXPLAINED[details.kind]}
    >
      {details ? (
        <Facts facts={factsOf(details, reseller, money)} />
      ) : isSought ? (
        <Loading what="the entry" />
      ) : (
        <Callout tone="warn">This entry is not among the newest ones.</Callout>
      )}
    </Dialog>
  );
}

function factsOf(entry: LedgerEntry, reseller: Props['reseller'], money: Props['money']) {
  const facts: (readonly [string, ReactNode])[] = [
    ['Amount', <Change key="amount" value={entry.amount} money={money} />],
    ['Balance after it', money(entry.balance)],
    ['Time', <Time key="time" value={entry.created_at} />],
  ];
  if (entry.licenses > 0) facts.push(['Keys', formatNumber(entry.licenses)]);
  if (entry.app_id)
    facts.push(['Application', <bdi key="app">{applicationName(reseller, entry.app_id)}</bdi>]);
  if (entry.tier) {
    facts.push(
      ['Tier', <bdi key="tier">{entry.tier}</bdi>],
      ['Duration', formatDuration(entry.duration_days)],
    );
  }
  if (entry.note) facts.push(['Note', <bdi key="note">{entry.note}</bdi>]);
  if (entry.reference) facts.push(['Reference', <code key="reference">{entry.reference}</code>]);
  facts.push(['Identifier', <code key="id">{entry.entry_id}</code>]);
  return facts;
}
