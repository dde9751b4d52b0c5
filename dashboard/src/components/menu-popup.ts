const GAP = 6;
const EDGE = 8;

/** Places a popup below a button, or above it where there is more space. */
export function placeAt(popup: HTMLElement, button: DOMRect, align: 'start' | 'end'): void {
  const { style } = popup;
  style.minWidth = `${button.width}px`;
  const below = innerHeight - button.bottom - GAP - EDGE;
  const above = button.top - GAP - EDGE;
  const isBelow = below >= Math.min(popup.scrollHeight, above);
  style.maxHeight = `${isBelow ? below : above}px`;
  const { width, height } = popup.getBoundingClientRect();
  const left = align === 'start' ? button.left : button.right - width;
  style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
  style.top = `${isBelow ? button.bottom + GAP : button.top - GAP - height}px`;
  style.visibility = 'visible';
}

/** Hides a popup that was closed, because the browser shows it again before it can be placed. */
export function hideUntilPlaced({ style }: HTMLElement): void {
  style.visibility = '';
}

/** The item that a key leads to: the arrows, Home and End, or the first letter of its text. */
export function itemFor(key: string, popup: HTMLElement): HTMLElement | undefined {
  const items = [...popup.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
  const at = items.findIndex((item) => item === document.activeElement);
  if (key === 'Home') return items[0];
  if (key === 'End') return items.at(-1);
  if (key === 'ArrowDown') return items[(at + 1) % items.length];
  if (key === 'ArrowUp') return items.at(at <= 0 ? -1 : at - 1);
  if (key.length !== 1 || key === ' ') return undefined;
  const startsWithKey = (item: HTMLElement) =>
    item.textContent.trim().toLowerCase().startsWith(key.toLowerCase());
  return [...items.slice(at + 1), ...items.slice(0, at + 1)].find(startsWithKey);
}
