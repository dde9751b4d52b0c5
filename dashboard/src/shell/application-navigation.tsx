import { AppSwitcher } from './app-switcher.tsx';
import { useCurrentApplication } from './current-application.ts';
import { APPLICATION_PAGES } from './navigation.ts';
import { PageLinks } from './page-links.tsx';
import styles from './sidebar.module.css';

/** The current application and its pages. Before there is one, nothing. */
export function ApplicationNavigation() {
  const { appId, name } = useCurrentApplication();
  if (appId === undefined) return null;
  return (
    <div className={styles.application}>
      <AppSwitcher appId={appId} name={name} />
      <nav aria-label="Application" className={styles.pages}>
        <PageLinks pages={APPLICATION_PAGES} params={{ appId }} className={styles.link} />
      </nav>
    </div>
  );
}
