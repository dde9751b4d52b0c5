import { callForResult, type Schemas } from '../../api/client.ts';
import {
  type BulkTarget,
  changeEach,
  type RunStep,
  type StepOptions,
} from '../../components/data-table/bulk/bulk.ts';
import { readSignal, selectRows, toStep } from '../../components/data-table/bulk/step.ts';
import { toFilter, userActions, type UserFilter } from './queries.ts';

type ChangeRoute = `POST /api/v2/dev/apps/{app_id}/users/${'unban' | 'delete'}`;

/** The bulk operations on users. @param filter what the list shows */
export function userSteps(appId: string, filter: UserFilter) {
  const path = { app_id: appId };
  const select = (target: BulkTarget, options: StepOptions) =>
    selectRows(target, options, (ids) => ({ user_ids: ids }), toFilter(filter));
  const change =
    (route: ChangeRoute): RunStep =>
    async (target, options) => {
      const input = { path, body: select(target, options), signal: readSignal(options) };
      const { body, requestId } = await callForResult(route, input);
      return toStep(body, requestId, ({ user_id }) => user_id);
    };
  return {
    ban:
      (more: Pick<Schemas['BanUsersRequest'], 'reason' | 'expires_at'>): RunStep =>
      async (target, options) => {
        const input = { path, body: { ...select(target, options), ...more }, signal: readSignal(options) };
        const { body, requestId } = await callForResult('POST /api/v2/dev/apps/{app_id}/users/ban', input);
        return toStep(body, requestId, ({ user_id }) => user_id);
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
