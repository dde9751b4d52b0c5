import { Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { BASE } from '../api/base.ts';
import { Button, buttonClass, IconButton } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { classes } from '../lib/classes.ts';
import styles from './app-shell.module.css';
import { BottomBar } from './bottom-bar.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { useFrame } from './frame.ts';
import { OtherConsole } from './other-console.tsx';
import { Sidebar } from './sidebar.tsx';

// No parts of the first page. The palette is loaded before its key is complete, because text is typed into it at once.
const loadPalette = () => import('./command-palette.tsx');
const CommandPalette = lazy(loadPalette);
const CurlDialog = lazy(() => import('./curl-dialog.tsx'));

type Open = 'none' | 'navigation' | 'palette' | 'curl';

const isMac = navigator.platform.startsWith('Mac');

/** The frame of every page: navigation, the bar at the top, and the page itself. */
export function AppShell() {
  const [open, setOpen] = useState<Open>('none');
  const close = () => setOpen('none');
  const { pathname } = useLocation();
  useEffect(close, [pathname]);
  usePaletteKey(() => setOpen('palette'));
  const { kind, hasBottomBar, opens } = useFrame();

  return (
    <div className={classes(styles.shell, hasBottomBar && styles.thumb)}>
      <a className={styles.skip} href="#main">
        Skip to content
      </a>
      <aside className={styles.side} aria-label="Sidebar">
        <Sidebar />
      </aside>
      <div className={styles.page}>
        <header className={styles.top}>
          <IconButton
            className={styles.menu}
            label="Open the navigation"
            icon="menu"
            onClick={() => setOpen('navigation')}
          />
          <Breadcrumbs />
          <div className={styles.actions}>
            <a
              className={classes(buttonClass({ look: 'quiet' }), styles.reference)}
              href={`${BASE}/docs`}
              target="_blank"
              rel="noreferrer"
            >
              API reference
            </a>
            <Button
              className={styles.find}
              icon="search"
              aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
              onClick={() => setOpen('palette')}
            >
              <span className={styles.words}>Go to</span>
              <span className="visually-hidden"> {opens}</span>
              <kbd className={styles.key} aria-hidden="true">
                {isMac ? '⌘K' : 'Ctrl K'}
              </kbd>
            </Button>
            <IconButton label="Show as curl" icon="code" onClick={() => setOpen('curl')} />
          </div>
        </header>
        <main id="main" className={styles.main} tabIndex={-1}>
          <OtherConsole own={kind} />
          <Outlet />
        </main>
      </div>
      {hasBottomBar && <BottomBar />}
      <Dialog kind="navigation" open={open === 'navigation'} onClose={close} title="Navigation">
        <Sidebar />
      </Dialog>
      <Suspense>
        {open === 'palette' && <CommandPalette onClose={close} onCurl={() => setOpen('curl')} />}
        {open === 'curl' && <CurlDialog onClose={close} />}
      </Suspense>
    </div>
  );
}

function usePaletteKey(onPress: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key === 'Control' || event.key === 'Meta') void loadPalette();
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // Not over a dialog, which may show a secret for the only time.
      if (!document.querySelector('[role$="dialog"]')) onPress();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}
