import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { CursorList } from '../../api/pages.ts';
import { classes } from '../../lib/classes.ts';
import { formatNumber, plural } from '../../lib/format.ts';
import { ErrorState } from '../error-state.tsx';
import { Checkbox } from '../field.tsx';
import { Skeleton } from '../skeleton.tsx';
import styles from './data-table.module.css';
import { rangeOfRows } from './range.ts';
import type { Selection } from './selection.ts';

export interface Column<Item> {
  readonly id: string;
  readonly header: string;
  /** The share of the width, in CSS. Without one, the column takes what is left. */
  readonly width?: string;
  /** Hides the column on screens that are narrower than a tablet, or than a desktop. */
  readonly from?: 'tablet' | 'desktop';
  readonly isNumber?: boolean;
  readonly cell: (item: Item) => ReactNode;
}

interface Props<Item> {
  /** What the rows are, such as `licenses`. */
  readonly label: string;
  readonly list: CursorList<Item>;
  readonly columns: readonly Column<Item>[];
  readonly idOf: (item: Item) => string;
  /** What a screen reader calls a row. */
  readonly nameOf: (item: Item) => string;
  readonly selection?: Selection;
  /** The row whose details are open. */
  readonly currentId?: string | undefined;
  readonly empty: ReactNode;
}

const ROW_HEIGHT = 45;
/** The rows before the end at which the next page is fetched. */
const AHEAD = 30;

/**
 * A list of any length. Only the rows near the window are in the document, and pages are fetched as the reader scrolls
 * towards them.
 */
export function DataTable<Item>(props: Props<Item>) {
  const { label, list, columns, idOf, nameOf, selection, currentId, empty } = props;
  const { items } = list;
  const isEmpty = items.length === 0;
  const body = useRef<HTMLTableSectionElement>(null);
  const [offset, setOffset] = useState(0);
  const [focusedId, setFocusedId] = useState<string>();
  const focused = focusedId === undefined ? -1 : items.findIndex((item) => idOf(item) === focusedId);

  useLayoutEffect(() => {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    setOffset(top + window.scrollY);
  }, [list.isLoading, isEmpty]);

  const virtualizer = useWindowVirtualizer({
    count: items.length,
    // Rows that are added above the one with the focus do not take its place.
    getItemKey: (index) => idOf(items[index]!),
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollMargin: offset,
    // The row with the focus stays in the document, so that the focus is not lost.
    rangeExtractor: (range) => rangeOfRows(range, focused < 0 ? undefined : focused),
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const { hasMore, isLoadingMore, loadMore } = list;
  useEffect(() => {
    if (hasMore && !isLoadingMore && !list.error && last >= items.length - AHEAD) loadMore();
  }, [hasMore, isLoadingMore, last, items.length, list.error, loadMore]);

  if (list.error && isEmpty) return <ErrorState error={list.error} onRetry={list.reload} />;
  if (!list.isLoading && isEmpty) {
    return (
      <div className={styles.frame}>{hasMore ? <LookingFurther list={list} label={label} /> : empty}</div>
    );
  }

  return (
    <div className={styles.frame}>
      <table className={styles.table} aria-label={label} aria-rowcount={hasMore ? -1 : items.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {selection && (
              <th scope="col" className={styles.check}>
                <SelectAll selection={selection} ids={items.map(idOf)} label={label} />
              </th>
            )}
            {columns.map(({ id, header, width, from, isNumber }) => (
              <th
                key={id}
                scope="col"
                className={classes(from && styles[from], isNumber && styles.number)}
                style={width === undefined ? undefined : { width }}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          <Spacer height={(rows[0]?.start ?? offset) - offset} />
          {rows.map(({ index, key, start, size }, position) => {
            const item = items[index]!;
            const id = idOf(item);
            const gap = (rows[position + 1]?.start ?? start + size) - (start + size);
            const row = (
              <tr
                key={key}
                aria-rowindex={index + 2}
                data-selected={selection?.has(id) || undefined}
                className={classes(id === currentId && styles.current)}
                onFocus={() => setFocusedId(id)}
                onBlur={() => setFocusedId(undefined)}
              >
                {selection && (
                  <td className={styles.check}>
                    <Checkbox
                      bare
                      label={`Select ${nameOf(item)}`}
                      checked={selection.has(id)}
                      onChange={() => selection.toggle(id, items.map(idOf))}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td
                    key={column.id}
                    className={classes(column.from && styles[column.from], column.isNumber && styles.number)}
                  >
                    {column.cell(item)}
                  </td>
                ))}
              </tr>
            );
            return gap > 0 ? [row, <Spacer key={`${key}-gap`} height={gap} />] : row;
          })}
          <Spacer height={virtualizer.getTotalSize() - ((rows.at(-1)?.end ?? offset) - offset)} />
        </tbody>
      </table>
      {list.isLoading && <Waiting label={label} />}
      {list.error && <ErrorState error={list.error} onRetry={loadMore} compact />}
      <p className={styles.foot} role="status">
        {list.isLoading
          ? `Loading ${label}`
          : !hasMore
            ? counted(items.length, label)
            : list.lookedAt === undefined
              ? `${formatNumber(items.length)}+ ${label}`
              : `${counted(items.length, label)} found in ${formatNumber(list.lookedAt)}`}
        {isLoadingMore && ', loading more'}
      </p>
    </div>
  );
}

/** @param label the plural, such as `entries` */
const counted = (count: number, label: string) =>
  plural(count, label.replace(/ies$/, 'y').replace(/s$/, ''), label);

/** No row of the pages so far is shown, but one of the next pages may have some. */
function LookingFurther({ list, label }: Pick<Props<unknown>, 'list' | 'label'>) {
  return (
    <>
      <Skeleton lines={3} />
      <p className={styles.foot} role="status">
        Looking further…
        {list.lookedAt !== undefined && ` ${counted(list.lookedAt, label)} looked at.`}
      </p>
    </>
  );
}

function SelectAll({
  selection,
  ids,
  label,
}: {
  selection: Selection;
  ids: readonly string[];
  label: string;
}) {
  const isAll = ids.length > 0 && ids.every((id) => selection.has(id));
  return (
    <Checkbox
      bare
      label={`Select all loaded ${label}`}
      checked={isAll}
      ref={(input) => {
        if (input) input.indeterminate = !isAll && selection.ids.size > 0;
      }}
      onChange={() => selection.set(isAll ? [] : ids)}
    />
  );
}

/**
 * Takes the height of the rows that are not in the document. It spans no columns: those that a narrow screen hides
 * would be there again, empty, and take width.
 */
function Spacer({ height }: { readonly height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" className={styles.spacer}>
      <td style={{ height }} />
    </tr>
  );
}

function Waiting({ label }: { readonly label: string }) {
  return (
    <div className={styles.waiting}>
      <span className="visually-hidden">Loading {label}</span>
      <Skeleton lines={6} />
    </div>
  );
}
