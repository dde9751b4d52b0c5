import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import { withoutMarks } from '../lib/bidi.ts';
import { Menu, MenuItem, MenuLine } from '../components/menu.tsx';
import styles from './app-switcher.module.css';
import { applicationsQuery } from './queries.ts';

interface Props {
  readonly appId: string;
  /** Undefined until it is read. */
  readonly name: string | undefined;
}

/** Shows the application whose pages the sidebar has, and opens another one. */
export function AppSwitcher({ appId, name = 'Application' }: Props) {
  const navigate = useNavigate();
  const applications = useQuery(applicationsQuery);
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className={styles.switcher} title={withoutMarks(name)}>
          <span className="visually-hidden">Switch the application: </span>
          <bdi className={styles.name}>{name}</bdi>
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
