import {
  type InfiniteData,
  type InvalidateOptions,
  type InvalidateQueryFilters,
  QueryClient,
} from '@tanstack/react-query';
import { Problem } from './api/problem.ts';

const TRIES = 2;

/** Whether another attempt may help: the service was not reached, or failed. */
function mayPass(error: Error): boolean {
  return error instanceof Problem && (error.status === undefined || error.status >= 500);
}

/** The pages of a list that are read again after a change. Reading all pages of a long list would take minutes. */
const PAGES_READ_AGAIN = 10;

class Client extends QueryClient {
  override invalidateQueries(filters?: InvalidateQueryFilters, options?: InvalidateOptions): Promise<void> {
    for (const query of this.getQueryCache().findAll(filters)) {
      const data = query.state.data as Partial<InfiniteData<unknown>> | undefined;
      if (!data?.pages || !data.pageParams || data.pages.length <= PAGES_READ_AGAIN) continue;
      this.setQueryData(query.queryKey, {
        pages: data.pages.slice(0, PAGES_READ_AGAIN),
        pageParams: data.pageParams.slice(0, PAGES_READ_AGAIN),
      });
    }
    return super.invalidateQueries(filters, options);
  }
}

export const queryClient = new Client({
  defaultOptions: {
    queries: {
      staleTime: 15_000,
      retry: (failures, error) => failures < TRIES && mayPass(error),
    },
  },
});
