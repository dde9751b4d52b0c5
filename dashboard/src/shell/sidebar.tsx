import { useFrame } from './frame.ts';
import { Logo } from './logo.tsx';
import { PageLinks } from './page-links.tsx';
import styles from './sidebar.module.css';
import { UserMenu } from './user-menu.tsx';

/** The navigation of the console, and the account's menu. */
export function Sidebar() {
  const { label, pages, pagesLabel, Navigation } = useFrame();
  return (
    <div className={styles.sidebar}>
      <div className={styles.brand}>
        <Logo />
        Latchkey
        {label && <span className={styles.console}>{label}</span>}
      </div>
      <nav aria-label={pagesLabel} className={styles.pages}>
        <PageLinks pages={pages} className={styles.link} />
      </nav>
      {Navigation && <Navigation />}
      <div className={styles.end}>
        <UserMenu />
      </div>
    </div>
  );
}
