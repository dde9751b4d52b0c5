import { useMemo } from 'react';
import { Chart } from '../../components/chart/chart.tsx';
import { plural } from '../../lib/format.ts';
import { topSeries } from '../../lib/period.ts';

/** How many parts a plot distinguishes. */
const MOST_PARTS = 5;

interface Props {
  readonly title: string;
  /** What is counted, such as `login`. */
  readonly unit: string;
  readonly total: number;
  readonly labels: readonly string[];
  /** The counts of each part, such as a tier. The largest come first. */
  readonly parts: readonly { readonly label: string; readonly values: readonly number[] }[];
  /** The counts of all, which are shown if there are no parts. */
  readonly all: readonly number[];
  readonly isRunning: boolean;
}

/** A number by day and by what it consists of. */
export function Breakdown({ title, unit, total, labels, parts, all, isRunning }: Props) {
  const series = useMemo(() => {
    const top = topSeries(parts, MOST_PARTS);
    return top.length > 0 ? top : [{ label: title, values: all }];
  }, [parts, all, title]);
  return <Chart {...{ title, labels, series, isRunning }} total={plural(total, unit)} />;
}
