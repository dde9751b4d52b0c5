import styles from './bottom-bar.module.css';
import { useFrame } from './frame.ts';
import { PageLinks } from './page-links.tsx';

/** The pages at the bottom of a phone, within reach of a thumb. */
export function BottomBar() {
  const { pages, pagesLabel } = useFrame();
  return (
    <nav aria-label={`${pagesLabel} at the bottom`} className={styles.bar}>
      <PageLinks pages={pages} className={styles.link} />
    </nav>
  );
}
