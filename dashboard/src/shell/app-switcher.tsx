import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { Menu, MenuItem, MenuLine } from '../components/menu.tsx';
import styles from './app-switcher.module.css';
import { applicationQuery, applicationsQuery } from './queries.ts';

/** Shows the application whose pages are open, and opens another one. */
export function AppSwitcher({ appId }: { readonly appId: string | undefined }) {
  const navigate = useNavigate();
  const applications = useQuery(applicationsQuery);
  const current = useQuery({ ...applicationQuery(appId ?? ''), enabled: appId !== undefined });
  const name = appId === undefined ? 'Choose an application' : (current.data?.name ?? 'Application');
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={styles.switcher}>
          <span className="visually-hidden">Switch the application: </span>
          <span className={styles.name}>{name}</span>
          <Icon name="updown" />
        </button>
      }
    >
      {applications.data?.data.map((application) => (
        <MenuItem
          key={application.app_id}
          isCurrent={application.app_id === appId}
          onClick={() => void navigate({ to: '/apps/$appId', params: { appId: application.app_id } })}
        >
          {application.name}
        </MenuItem>
      ))}
      {(applications.data?.data.length ?? 0) > 0 && <MenuLine />}
      <MenuItem icon="overview" onClick={() => void navigate({ to: '/' })}>
        All applications
      </MenuItem>
    </Menu>
  );
}
