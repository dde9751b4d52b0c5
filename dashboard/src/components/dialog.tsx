import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, type RefObject, useRef } from 'react';
import { withoutMarks } from '../lib/bidi.ts';
import { classes } from '../lib/classes.ts';
import { IconButton } from './button.tsx';
import styles from './dialog.module.css';

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** `drawer` opens at the side, `navigation` at the start of the line, and `palette` at the top without a title. */
  readonly kind?: 'dialog' | 'wide' | 'drawer' | 'navigation' | 'palette';
  /** Interrupts, and does not close by a click outside. */
  readonly alert?: boolean;
  /** Closes only by one of its own buttons. */
  readonly isRequired?: boolean;
  readonly initialFocus?: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}

/** A window over the page. It keeps the focus inside, and returns it to where it was. */
export function Dialog({
  open,
  onClose,
  title,
  description,
  kind = 'dialog',
  alert,
  isRequired,
  initialFocus,
  children,
}: Props) {
  const isBare = kind === 'palette';
  const popup = useRef<HTMLDivElement>(null);
  // A form begins at its first field. What is only read begins at its top.
  const firstField = () => {
    const isForm = kind === 'dialog' || kind === 'wide' || kind === 'palette';
    return (isForm && popup.current?.querySelector<HTMLElement>('input, select, textarea')) || true;
  };
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => !next && !isRequired && onClose()}
      disablePointerDismissal={alert ?? false}
    >
      <Base.Portal>
        <Base.Backdrop forceRender className={styles.backdrop} />
        <Base.Popup
          className={classes(styles.popup, styles[kind])}
          role={alert ? 'alertdialog' : 'dialog'}
          ref={popup}
          initialFocus={initialFocus ?? firstField}
        >
          <div className={isBare ? 'visually-hidden' : styles.head}>
            <Base.Title className={styles.title}>{withoutMarks(title)}</Base.Title>
            {!isRequired && (
              <Base.Close render={<IconButton label="Close" icon="close" />} className={styles.close} />
            )}
          </div>
          {description && <Base.Description className={styles.description}>{description}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>;
}
