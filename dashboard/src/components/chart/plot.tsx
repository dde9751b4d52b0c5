import { useEffect, useRef } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { onColorChange } from '../../design/scheme.ts';
import { withoutMarks } from '../../lib/bidi.ts';
import { formatCompact } from '../../lib/format.ts';
import styles from './chart.module.css';
import { type Series, SO_FAR } from './chart.tsx';

const HEIGHT = 200;

interface Props {
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  readonly kind: 'line' | 'bars';
  readonly format: (value: number) => string;
  readonly isRunning: boolean;
}

/** The line to a position that is not over yet, so that it does not look like a fall. */
const DASH = [3, 4];

/** The plot itself, a canvas, which is drawn again when its width or the colors change. */
export default function Plot({ labels, series, kind, format, isRunning }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const reading = useRef<HTMLParagraphElement>(null);

  useEffect(() => {
    const element = place.current!;
    const last = labels.length - 1;
    // Bars show a number that still grows as it is, a line would fall to it.
    const hasRest = isRunning && kind === 'line' && last > 0;
    const read = (at: number | null | undefined) => {
      const shown = at ?? last;
      const values = series.map(({ label, values }) => `${label} ${format(values[shown] ?? 0)}`);
      // A movement of the pointer can arrive after the plot has left the page.
      if (!reading.current) return;
      const name = `${labels[shown] ?? ''}${isRunning && shown === last ? SO_FAR : ''}`;
      reading.current.textContent = withoutMarks(`${name}: ${values.join(', ')}`);
    };
    let plot = draw();
    function draw() {
      const over = series.map(({ values }) =>
        values.map((value, at) => (hasRest && at === last ? null : value)),
      );
      const rest = series.map(({ values }) => values.map((value, at) => (at < last - 1 ? null : value)));
      const data: UPlot.AlignedData = [labels.map((_, at) => at), ...over, ...(hasRest ? rest : [])];
      return new UPlot(optionsOf({ labels, series, kind, hasRest }, element, read), data, element);
    }
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    const endColors = onColorChange(redraw);
    read(null);
    return () => {
      observer.disconnect();
      endColors();
      plot.destroy();
    };
  }, [labels, series, kind, format, isRunning]);

  return (
    <>
      <div ref={place} className={styles.canvas} />
      <p ref={reading} className={styles.reading} />
    </>
  );
}

function optionsOf(
  { labels, series, kind, hasRest }: Omit<Props, 'format' | 'isRunning'> & { readonly hasRest: boolean },
  element: HTMLElement,
  onRead: (at: number | null | undefined) => void,
): UPlot.Options {
  const computed = getComputedStyle(element);
  // Custom properties keep `light-dark()` unresolved, so the color is read from a property that uses it.
  const probe = document.createElement('span');
  element.append(probe);
  const color = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const grid = { stroke: color('line'), width: 1 };
  const font = `11px ${computed.fontFamily}`;
  const stroke = color('text-soft');
  const bars = UPlot.paths.bars?.({ size: [0.7, 48], radius: 0.15 });
  const colors = series.map((_, at) => color(`series-${(at % 6) + 1}`));
  const soft = color('accent-soft');
  probe.remove();
  const lines = series.map(({ label }, at) => ({
    label,
    stroke: colors[at]!,
    width: kind === 'bars' ? 0 : 1.75,
    points: { show: labels.length < 3 },
    ...(kind === 'bars' && bars && { fill: colors[at]!, paths: bars }),
    ...(kind === 'line' && series.length === 1 && { fill: soft }),
  }));
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: { x: { time: false }, y: { range: (_plot, _low, high) => [0, Math.max(4, high * 1.08)] } },
    axes: [
      {
        stroke,
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 26,
        space: 64,
        incrs: [1, 2, 5, 7, 14, 24, 30, 48, 60, 90],
        values: (_plot, positions) => positions.map((at) => labels[at] ?? ''),
      },
      {
        stroke,
        font,
        grid,
        ticks: { show: false },
        size: 44,
        space: 40,
        incrs: [
          1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7, 1e8,
        ],
        values: (_plot, values) => values.map(formatCompact),
      },
    ],
    series: [{}, ...lines, ...(hasRest ? lines.map((line) => ({ ...line, dash: DASH })) : [])],
    hooks: { setCursor: [(plot) => onRead(plot.cursor.idx)] },
  };
}
