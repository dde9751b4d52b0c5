import { useParams } from '@tanstack/react-router';
import { AppSwitcher } from './app-switcher.tsx';
import { APPLICATION_PAGES } from './navigation.ts';
import { PageLinks } from './page-links.tsx';
import styles from './sidebar.module.css';

/** The application whose pages are open, and its pages. */
export function ApplicationNavigation() {
  const { appId } = useParams({ strict: false });
  return (
    <div className={styles.application}>
      <AppSwitcher appId={appId} />
      {appId && (
        <nav aria-label="Application" className={styles.pages}>
          <PageLinks pages={APPLICATION_PAGES} params={{ appId }} className={styles.link} />
        </nav>
      )}
    </div>
  );
}
