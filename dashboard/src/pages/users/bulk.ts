import { callForResult, type Schemas } from '../../api/client.ts';
import {
  type BulkStep,
  type BulkTarget,
  changeEach,
  readSignal,
  type RunStep,
  type StepOptions,
} from '../../components/data-table/bulk/bulk.ts';
import { toFilter, userActions, type UserFilter } from './queries.ts';

type ChangeRoute = `POST /api/v2/dev/apps/{app_id}/users/${'unban' | 'delete'}`;

/** The bulk operations on users. @param filter what the list shows */
export function userSteps(appId: string, filter: UserFilter) {
  const path = { app_id: appId };
  const select = (target: BulkTarget, { cursor, isDryRun }: StepOptions) => ({
    ...(target !== 'listed' ? { user_ids: [...target.ids] } : selectListed(filter)),
    ...(cursor !== undefined && { cursor }),
    ...(isDryRun && { dry_run: true }),
  });
  const change =
    (route: ChangeRoute): RunStep =>
    async (target, options) => {
      const input = { path, body: select(target, options), signal: readSignal(options) };
      const { body, requestId } = await callForResult(route, input);
      return stepOf(body, requestId);
    };
  return {
    ban:
      (more: Pick<Schemas['BanUsersRequest'], 'reason' | 'expires_at'>): RunStep =>
      async (target, options) => {
        const input = { path, body: { ...select(target, options), ...more }, signal: readSignal(options) };
        const { body, requestId } = await callForResult('POST /api/v2/dev/apps/{app_id}/users/ban', input);
        return stepOf(body, requestId);
      },
    unban: change('POST /api/v2/dev/apps/{app_id}/users/unban'),
    delete: change('POST /api/v2/dev/apps/{app_id}/users/delete'),
    extend:
      (days: number): RunStep =>
      async (target) => {
        const ids = target === 'listed' ? [] : [...target.ids];
        const { body, requestId } = await callForResult('POST /api/v2/dev/apps/{app_id}/users/extend', {
          path,
          body: { days, user_ids: ids },
          once: true,
        });
        return { matched: ids.length, changed: body.extended, unchanged: [], next: null, requestId };
      },
    resetHwid: ((target, { signal }) =>
      changeEach(
        target === 'listed' ? [] : target.ids,
        (id) => userActions(appId, id).resetHwid(),
        signal,
      )) satisfies RunStep,
  };
}

function selectListed(filter: UserFilter): Pick<Schemas['ChangeUsersRequest'], 'filter' | 'all'> {
  const members = toFilter(filter);
  return Object.keys(members).length > 0 ? { filter: members } : { all: true };
}

function stepOf(result: Schemas['ChangeUsersResult'], requestId: string | undefined): BulkStep {
  return {
    matched: result.matched,
    changed: result.changed,
    unchanged: result.unchanged.map(({ user_id, code }) => ({ id: user_id, code })),
    next: result.next_cursor,
    requestId,
  };
}
