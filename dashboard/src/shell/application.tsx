import { useQuery } from '@tanstack/react-query';
import { createRoute, Link, Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import { asProblem } from '../api/problem.ts';
import { buttonClass } from '../components/button.tsx';
import { ErrorState } from '../components/error-state.tsx';
import { rememberApplication } from './current-application.ts';
import { developerRoute } from './developer.ts';
import { Page } from './page.tsx';
import { applicationQuery } from './queries.ts';

/** The route of all pages of an application. */
export const applicationRoute = createRoute({
  getParentRoute: () => developerRoute,
  path: '/apps/$appId',
  component: ApplicationPages,
});

function ApplicationPages() {
  const { appId } = applicationRoute.useParams();
  const application = useQuery(applicationQuery(appId));
  const isFound = application.isSuccess;
  useEffect(() => {
    if (isFound) rememberApplication(appId);
  }, [isFound, appId]);
  if (application.isLoadingError) {
    if (asProblem(application.error).code === 'APPLICATION_NOT_FOUND') return <UnknownApplication />;
    return <ErrorState error={application.error} onRetry={() => void application.refetch()} />;
  }
  // A new application is a new page, so that no draft or selection moves over.
  return <Outlet key={appId} />;
}

function UnknownApplication() {
  return (
    <Page
      title="Application not found"
      description="It was deleted, or it belongs to another account. The overview lists your applications."
    >
      <Link to="/" className={buttonClass({ look: 'primary' })}>
        Go to the overview
      </Link>
    </Page>
  );
}
