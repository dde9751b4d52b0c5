import { defaultRangeExtractor, type Range } from '@tanstack/react-virtual';

/** The most rows in the document, at any height of the window. */
const AT_MOST = 56;

/** The rows of the document: those near the window, and the one that has the focus. */
export function rangeOfRows(range: Range, focused: number | undefined): number[] {
  const rows = defaultRangeExtractor(range).slice(0, AT_MOST);
  if (focused === undefined || focused >= range.count || rows.includes(focused)) return rows;
  return [...rows, focused].sort((a, b) => a - b);
}
