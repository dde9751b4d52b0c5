import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { call, type Schemas } from '../../../api/client.ts';
import { PAGE_SIZE, useCursorList } from '../../../api/pages.ts';

export type Plan = Schemas['AdminPlan'];

/** All plans, also those that are no longer for sale. */
export const usePlans = () =>
  useCursorList(['admin', 'plans', 'list'], (cursor, signal) =>
    call('GET /api/v2/admin/plans', { query: { limit: PAGE_SIZE, ...(cursor && { cursor }) }, signal }),
  );

export const planQuery = (planId: string) =>
  queryOptions({
    queryKey: ['admin', 'plans', 'one', planId],
    queryFn: ({ signal }) => call('GET /api/v2/admin/plans/{plan_id}', { path: { plan_id: planId }, signal }),
  });

export function usePlansChanged(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ['admin', 'plans'] });
}

export const createPlan = (body: Schemas['CreatePlanRequest']) =>
  call('POST /api/v2/admin/plans', { body, once: true });

export const updatePlan = (planId: string, body: Schemas['UpdatePlanRequest']) =>
  call('PATCH /api/v2/admin/plans/{plan_id}', { path: { plan_id: planId }, body });

export const archivePlan = (planId: string) =>
  call('DELETE /api/v2/admin/plans/{plan_id}', { path: { plan_id: planId } });
