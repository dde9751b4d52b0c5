import { ErrorState } from '../../components/error-state.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Page } from '../../shell/page.tsx';
import { useApplication } from '../../shell/queries.ts';
import { Danger } from './danger.tsx';
import { Executables } from './executables.tsx';
import { General } from './general.tsx';
import { settingsRoute } from './route.ts';
import { SecretCard } from './secret-card.tsx';
import styles from './settings.module.css';
import { Status } from './status.tsx';
import { Switches } from './switches.tsx';
import { Tiers } from './tiers.tsx';

/** Everything that can be set for an application. */
export function SettingsPage() {
  const { appId } = settingsRoute.useParams();
  const application = useApplication(appId);
  if (application.isLoadingError)
    return <ErrorState error={application.error} onRetry={() => void application.refetch()} />;
  if (!application.data) return <Loading what="the settings" lines={9} />;
  const { data } = application;
  return (
    <Page title="Settings" description="Switches take effect at once, everything else when you save it.">
      <div className={styles.page}>
        <Status application={data} />
        <General application={data} />
        <Switches application={data} />
        <Executables application={data} />
        <Tiers application={data} />
        <SecretCard application={data} />
        <Danger application={data} />
      </div>
    </Page>
  );
}
