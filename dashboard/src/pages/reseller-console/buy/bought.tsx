import { Link } from '@tanstack/react-router';
import { Button, buttonClass } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { csvRow, saveAs } from '../../../lib/download.ts';
import { formatDuration, formatMoney, plural } from '../../../lib/format.ts';
import { ShareButton } from '../share-button.tsx';
import styles from './buy.module.css';
import type { Purchase } from './queries.ts';

interface Props {
  readonly purchase: Purchase;
  readonly appName: string;
  readonly onMore: () => void;
}

/** The keys that were just bought. */
export function Bought({ purchase, appName, onMore }: Props) {
  const { licenses, cost, balance, currency } = purchase;
  const text = licenses.map(({ license_key }) => license_key).join('\n');
  const { tier, duration_days: days } = licenses[0]!;
  const save = () => {
    const rows = licenses.map((license) =>
      csvRow([license.license_id, license.license_key, license.tier, license.duration_days]),
    );
    const header = csvRow(['license_id', 'license_key', 'tier', 'duration_days']);
    saveAs(`keys-${licenses.length}.csv`, header + rows.join(''), 'text/csv');
  };
  return (
    <section className={styles.form} aria-label="Bought keys">
      <Callout tone="good">
        {plural(licenses.length, 'key')} bought for {formatMoney(cost, currency)}: <bdi>{tier}</bdi>,{' '}
        {formatDuration(days)}, of <bdi>{appName}</bdi>. Your balance is {formatMoney(balance, currency)}.
      </Callout>
      <pre className={styles.keys} tabIndex={0} role="group" aria-label="Keys">
        {text}
      </pre>
      <div className={styles.actions}>
        <ShareButton title={plural(licenses.length, 'license key')} text={text} />
        <CopyButton labeled text={text} what={licenses.length === 1 ? 'key' : 'all keys'} />
        <Button icon="download" onClick={save}>
          Save as CSV
        </Button>
      </div>
      <div className={styles.actions}>
        <Button icon="plus" onClick={onMore}>
          Buy more
        </Button>
        <Link to="/reseller/keys" className={buttonClass()}>
          All keys
        </Link>
      </div>
    </section>
  );
}
