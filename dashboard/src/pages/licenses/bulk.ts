import { callForResult, type Schemas } from '../../api/client.ts';
import { type BulkTarget, type RunStep, type StepOptions } from '../../components/data-table/bulk/bulk.ts';
import { readSignal, selectRows, toStep } from '../../components/data-table/bulk/step.ts';
import { type LicenseFilter, toQuery } from './queries.ts';

type ChangeRoute = `POST /api/v2/dev/apps/{app_id}/licenses/${'unban' | 'pause' | 'resume' | 'delete'}`;

/** The bulk operations on licenses. @param filter what the list shows */
export function licenseSteps(appId: string, filter: LicenseFilter) {
  const path = { app_id: appId };
  const select = (target: BulkTarget, options: StepOptions) =>
    selectRows(target, options, (ids) => ({ license_ids: ids }), toQuery(filter));
  const change =
    (route: ChangeRoute): RunStep =>
    async (target, options) => {
      const input = { path, body: select(target, options), signal: readSignal(options) };
      const { body, requestId } = await callForResult(route, input);
      return toStep(body, requestId, ({ license_id }) => license_id);
    };
  return {
    ban:
      (more: Pick<Schemas['BanLicensesRequest'], 'reason' | 'ban_users'>): RunStep =>
      async (target, options) => {
        const input = { path, body: { ...select(target, options), ...more }, signal: readSignal(options) };
        const { body, requestId } = await callForResult('POST /api/v2/dev/apps/{app_id}/licenses/ban', input);
        return toStep(body, requestId, ({ license_id }) => license_id);
      },
    unban: change('POST /api/v2/dev/apps/{app_id}/licenses/unban'),
    pause: change('POST /api/v2/dev/apps/{app_id}/licenses/pause'),
    resume: change('POST /api/v2/dev/apps/{app_id}/licenses/resume'),
    delete: change('POST /api/v2/dev/apps/{app_id}/licenses/delete'),
    extend:
      (days: number): RunStep =>
      async (target) => {
        const ids = target === 'listed' ? [] : [...target.ids];
        const { body, requestId } = await callForResult('POST /api/v2/dev/apps/{app_id}/licenses/extend', {
          path,
          body: { days, license_ids: ids },
          once: true,
        });
        const changed = ids.length - body.left;
        return { matched: ids.length, changed, unchanged: [], next: null, requestId };
      },
  };
}
