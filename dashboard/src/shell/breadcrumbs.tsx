import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import styles from './breadcrumbs.module.css';
import { applicationQuery } from './queries.ts';
import { useTitles } from './root.tsx';

/** Where the page is. */
export function Breadcrumbs() {
  const { appId } = useParams({ strict: false });
  const application = useQuery({ ...applicationQuery(appId ?? ''), enabled: appId !== undefined });
  const titles = useTitles();
  return (
    <nav aria-label="Breadcrumbs" className={styles.crumbs}>
      <ol>
        {appId && (
          <li className={styles.parent}>
            <Link to="/apps/$appId" params={{ appId }} activeOptions={{ exact: true }}>
              <bdi>{application.data?.name ?? 'Application'}</bdi>
            </Link>
          </li>
        )}
        {titles.map((title, at) => (
          <li key={title} aria-current={at === titles.length - 1 ? 'page' : undefined}>
            {title}
          </li>
        ))}
      </ol>
    </nav>
  );
}
