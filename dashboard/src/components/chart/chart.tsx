import { lazy, type ReactNode, Suspense, useId, useState } from 'react';
import { formatNumber } from '../../lib/format.ts';
import { Button } from '../button.tsx';
import { Skeleton } from '../skeleton.tsx';
import styles from './chart.module.css';

const Plot = lazy(() => import('./plot.tsx'));

export interface Series {
  readonly label: string;
  readonly values: readonly number[];
}

interface Props {
  readonly title: string;
  /** The number of the whole range, such as `1,204 logins`. */
  readonly total?: string;
  readonly note?: ReactNode;
  /** The name of each position, such as a day. */
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly kind?: 'line' | 'bars';
  /** Writes a value, such as an amount of money. */
  readonly format?: (value: number) => string;
  /** Whether the last position, such as today, is not over yet: its numbers still grow. */
  readonly isRunning?: boolean;
}

/** What the name of a position says if it is not over yet. */
export const SO_FAR = ' so far';

/** A plot that can be read as a table, too. Screen readers get the table. */
export function Chart({ title, total, note, labels, series, ...props }: Props) {
  const { kind = 'line', format = formatNumber, isRunning = false } = props;
  const [asTable, setAsTable] = useState(false);
  const id = useId();
  return (
    <figure className={styles.chart} aria-labelledby={id}>
      <figcaption className={styles.head}>
        <div>
          <h2 id={id} className={styles.title}>
            {title}
          </h2>
          {total && <p className={styles.total}>{total}</p>}
          {note && <p className={styles.note}>{note}</p>}
        </div>
        <Button aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {asTable ? 'Plot' : 'Table'}
          <span className="visually-hidden"> of {title}</span>
        </Button>
      </figcaption>
      {series.length > 1 && (
        <ul className={styles.legend}>
          {series.map(({ label }, at) => (
            <li key={label} data-series={at + 1}>
              <bdi>{label}</bdi>
            </li>
          ))}
        </ul>
      )}
      {!asTable && (
        <div aria-hidden="true" className={styles.plot}>
          <Suspense fallback={<Skeleton kind="block" />}>
            <Plot {...{ labels, series, kind, format, isRunning }} />
          </Suspense>
        </div>
      )}
      <div className={asTable ? styles.table : 'visually-hidden'} tabIndex={asTable ? 0 : undefined}>
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  <bdi>{label}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, at) => (
              <tr key={at}>
                <th scope="row">
                  {label}
                  {isRunning && at === labels.length - 1 && SO_FAR}
                </th>
                {series.map(({ label: name, values }) => (
                  <td key={name}>{format(values[at] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
