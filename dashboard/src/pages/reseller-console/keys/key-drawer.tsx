import { type ReactNode, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { Facts } from '../../../components/card.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toast.tsx';
import { formatDuration, formatMoney } from '../../../lib/format.ts';
import { useLast } from '../../../lib/last.ts';
import { StatusBadge } from '../../licenses/status-badge.tsx';
import { applicationName, type OwnReseller, useResellerChanged } from '../queries.ts';
import { ShareButton } from '../share-button.tsx';
import styles from './key-drawer.module.css';
import { type ResellerKey, returnKey } from './queries.ts';

interface Props {
  /** The key of the address. */
  readonly id: string | undefined;
  readonly item: ResellerKey | undefined;
  readonly isSought: boolean;
  readonly reseller: OwnReseller | undefined;
  readonly onClose: () => void;
}

/** The details of one key, and what can be done with it. */
export function KeyDrawer({ id, item, isSought, reseller, onClose }: Props) {
  const shown = useLast(item);
  const details = id === undefined ? shown : item;
  return (
    <Dialog kind="drawer" open={id !== undefined} onClose={onClose} title="Key">
      {details ? (
        <Details key={details.license_id} item={details} reseller={reseller} onReturned={onClose} />
      ) : isSought ? (
        <Loading what="the key" />
      ) : (
        <Callout tone="warn">This key was returned, or does not match the filters.</Callout>
      )}
    </Dialog>
  );
}

interface DetailsProps extends Pick<Props, 'reseller'> {
  readonly item: ResellerKey;
  readonly onReturned: () => void;
}

function Details({ item, reseller, onReturned }: DetailsProps) {
  const facts: (readonly [string, ReactNode])[] = [
    ['Status', <StatusBadge key="status" status={item.status} />],
    ['Application', <bdi key="app">{applicationName(reseller, item.app_id)}</bdi>],
    ['Tier', <bdi key="tier">{item.tier}</bdi>],
    ['Duration', formatDuration(item.duration_days)],
    ['Bought', <Time key="bought" value={item.created_at} />],
    ['Redeemed', <Time key="redeemed" value={item.redeemed_at} />],
  ];
  if (item.note) facts.push(['Note', <bdi key="note">{item.note}</bdi>]);
  return (
    <>
      <code className={styles.key}>{item.license_key}</code>
      <div className={styles.actions}>
        <ShareButton title="License key" text={item.license_key} />
        <CopyButton labeled text={item.license_key} what="key" />
        {item.status === 'unused' && <Return item={item} onReturned={onReturned} />}
      </div>
      <Facts facts={facts} />
      {item.status !== 'unused' && <p className={styles.remark}>Only unused keys can be returned.</p>}
    </>
  );
}

function Return({ item, onReturned }: Pick<DetailsProps, 'item' | 'onReturned'>) {
  const [isReturning, setIsReturning] = useState(false);
  const changed = useResellerChanged();
  return (
    <>
      <Button onClick={() => setIsReturning(true)}>Return key</Button>
      <ConfirmDialog
        open={isReturning}
        onClose={() => setIsReturning(false)}
        title="Return this key?"
        description="The key is deleted and stops working, and what you paid for it is added to your balance."
        action="Return key"
        onConfirm={async () => {
          const { amount, balance, currency } = await returnKey(item.license_id);
          onReturned();
          toast(
            `Key returned. You got ${formatMoney(amount, currency)} back, and your balance is ` +
              `${formatMoney(balance, currency)}.`,
          );
          await changed();
        }}
      >
        <code className={styles.key}>{item.license_key}</code>
      </ConfirmDialog>
    </>
  );
}
