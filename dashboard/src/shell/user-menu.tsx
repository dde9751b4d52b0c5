import { BASE, DASHBOARD } from '../api/base.ts';
import { signOut } from '../api/session.ts';
import { Icon } from '../components/icon.tsx';
import { Menu, MenuGroup, MenuItem, MenuLine } from '../components/menu.tsx';
import { type Scheme, setScheme, useScheme } from '../design/scheme.ts';
import { CONSOLES } from './consoles.ts';
import { useFrame } from './frame.ts';
import styles from './user-menu.module.css';

const SCHEMES: readonly (readonly [Scheme, string])[] = [
  ['system', 'Like the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** Who is signed in, the colors, and the way out. */
export function UserMenu() {
  const { kind, useAccount } = useFrame();
  const { name, note } = useAccount();
  const scheme = useScheme();
  const leave = async () => {
    await signOut();
    // A new document holds nothing of the account.
    location.assign(DASHBOARD + CONSOLES[kind].signIn);
  };
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
      <MenuItem onClick={() => window.open(`${BASE}/openapi.json`, '_blank', 'noreferrer')}>
        API description
      </MenuItem>
      <MenuItem onClick={() => window.open(`${BASE}/errors`, '_blank', 'noreferrer')}>Errors</MenuItem>
      <MenuLine />
      <MenuItem onClick={() => void leave()}>Sign out</MenuItem>
    </Menu>
  );
}
