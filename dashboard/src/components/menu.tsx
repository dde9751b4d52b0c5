import {
  cloneElement,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { classes } from '../lib/classes.ts';
import { Icon, type IconName } from './icon.tsx';
import { hideUntilPlaced, itemFor, placeAt } from './menu-popup.ts';
import styles from './menu.module.css';

interface Props {
  /** The button that opens it. */
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly align?: 'start' | 'end';
  readonly children: ReactNode;
}

/**
 * A list of actions below a button, as the WAI-ARIA pattern of menu buttons describes it. The browser's popover closes
 * it by Escape or a click outside, and returns the focus to the button.
 */
export function Menu({ trigger, align = 'end', children }: Props) {
  const id = useId();
  const popup = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => popup.current?.hidePopover();
  const place = () => {
    if (popup.current && button.current) {
      placeAt(popup.current, button.current.getBoundingClientRect(), align);
    }
  };

  const onToggle = (opens: boolean) => {
    if (!popup.current) return;
    if (!opens) {
      setOpen(false);
      return hideUntilPlaced(popup.current);
    }
    place();
    itemFor('Home', popup.current)?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Tab') return close();
    if (event.key === 'Escape') close();
    else {
      const item = itemFor(event.key, popup.current!);
      if (!item) return;
      item.focus();
    }
    event.preventDefault();
    // A dialog around the menu must not close as well.
    event.stopPropagation();
  };
  useEffect(() => {
    if (!isOpen) return;
    // The page moves below it.
    const follow = ({ target }: Event) => target !== popup.current && place();
    const options = { capture: true };
    window.addEventListener('scroll', follow, options);
    window.addEventListener('resize', follow, options);
    return () => {
      window.removeEventListener('scroll', follow, options);
      window.removeEventListener('resize', follow, options);
    };
  });

  return (
    <>
      {cloneElement(trigger, {
        ref: button,
        id: `${id}-button`,
        popoverTarget: id,
        'aria-haspopup': 'menu',
        'aria-expanded': isOpen,
        onKeyDown: (event: KeyboardEvent) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          popup.current?.showPopover();
        },
      })}
      <div
        ref={popup}
        id={id}
        popover="auto"
        role="menu"
        aria-labelledby={`${id}-button`}
        className={styles.popup}
        // The items exist only while they are shown: a table can have a menu in each row.
        onBeforeToggle={({ newState }) => newState === 'open' && flushSync(() => setOpen(true))}
        onToggle={({ newState }) => onToggle(newState === 'open')}
        onKeyDown={onKeyDown}
      >
        {isOpen && children}
      </div>
    </>
  );
}

interface ItemProps {
  readonly icon?: IconName;
  readonly isDangerous?: boolean;
  /** Whether it is the one that is chosen, for a choice of one. */
  readonly isCurrent?: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ icon, isDangerous, isCurrent, onClick, children }: ItemProps) {
  return (
    <button
      type="button"
      role={isCurrent === undefined ? 'menuitem' : 'menuitemradio'}
      aria-checked={isCurrent}
      tabIndex={-1}
      className={classes(styles.item, isDangerous && styles.danger)}
      onClick={({ currentTarget }) => {
        // First, so that what opens next returns the focus to the button.
        currentTarget.closest<HTMLElement>('[popover]')?.hidePopover();
        onClick();
      }}
    >
      {icon && <Icon name={icon} />}
      <span className={styles.text}>{children}</span>
      {isCurrent && <Icon name="check" />}
    </button>
  );
}

export function MenuLine() {
  return <div role="separator" className={styles.line} />;
}

export function MenuGroup({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div role="group" aria-label={label}>
      <div className={styles.label} aria-hidden="true">
        {label}
      </div>
      {children}
    </div>
  );
}
