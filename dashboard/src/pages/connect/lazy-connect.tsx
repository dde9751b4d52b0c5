import { lazy, Suspense } from 'react';
import { Skeleton } from '../../components/skeleton.tsx';

const Loaded = lazy(() => import('./connect.tsx'));

/** The first login of a program, in a file of its own: most readers have left it behind. */
export function Connect({ appId }: { readonly appId: string }) {
  return (
    <Suspense fallback={<Skeleton kind="block" />}>
      <Loaded appId={appId} />
    </Suspense>
  );
}
