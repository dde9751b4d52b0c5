import { call, type Schemas } from '../../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../../api/pages.ts';

export type Developer = Schemas['AdminDeveloper'];

export interface DeveloperFilter {
  readonly q?: string | undefined;
  readonly plan_id?: string | undefined;
  readonly suspended?: boolean | undefined;
}

/** The developers that match. */
export const useDevelopers = (filter: DeveloperFilter) =>
  useCursorList(['admin', 'developers', 'list', filter], (cursor, signal) => {
    const { q, plan_id, suspended } = filter;
    return call('GET /api/v2/admin/developers', {
      query: {
        limit: PAGE_SIZE,
        ...(q && { q }),
        ...(plan_id && { plan_id }),
        ...(suspended !== undefined && { suspended }),
        ...(cursor && { cursor }),
      },
      signal,
    });
  });
