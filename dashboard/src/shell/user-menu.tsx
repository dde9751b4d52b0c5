import { Icon } from '../components/icon.tsx';
import { Menu, MenuGroup, MenuItem, MenuLine } from '../components/menu.tsx';
import { setScheme, useScheme } from '../design/scheme.ts';
import { DOCUMENTS, openDocument } from './documents.ts';
import { useFrame } from './frame.ts';
import { SCHEMES } from './schemes.ts';
import { leave } from './leave.ts';
import styles from './user-menu.module.css';

/** Who is signed in, the colors, and the way out. */
export function UserMenu() {
  const { kind, useAccount } = useFrame();
  const { name, note } = useAccount();
  const scheme = useScheme();
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={styles.user}>
          <span className={styles.mark}>
            <Icon name="person" />
          </span>
          <span className={styles.text}>
            <bdi className={styles.name}>{name ?? 'Account'}</bdi>
            <span className={styles.plan}>{note ?? '\u00a0'}</span>
          </span>
          <Icon name="updown" />
        </button>
      }
    >
      <MenuGroup label="Colors">
        {SCHEMES.map(([value, label]) => (
          <MenuItem key={value} isCurrent={value === scheme} onClick={() => setScheme(value)}>
            {label}
          </MenuItem>
        ))}
      </MenuGroup>
      <MenuLine />
      {DOCUMENTS.map(({ path, label }) => (
        <MenuItem key={path} onClick={() => openDocument(path)}>
          {label}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onClick={() => void leave(kind)}>Sign out</MenuItem>
    </Menu>
  );
}
