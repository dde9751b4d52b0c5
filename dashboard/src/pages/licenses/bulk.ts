import { callForResult, type Schemas } from '../../api/client.ts';
import {
  type BulkStep,
  type BulkTarget,
  readSignal,
  type RunStep,
  type StepOptions,
} from '../../components/data-table/bulk/bulk.ts';
import { type LicenseFilter, toQuery } from './queries.ts';

type ChangeRoute = `POST /api/v2/dev/apps/{app_id}/licenses/${'unban' | 'pause' | 'resume' | 'delete'}`;

/** The bulk operations on licenses. @param filter what the list shows */
export function licenseSteps(appId: string, filter: LicenseFilter) {
  const path = { app_id: appId };
  const select = (target: BulkTarget, { cursor, isDryRun }: StepOptions) => ({
    ...(target !== 'listed' ? { license_ids: [...target.ids] } : selectListed(filter)),
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
      (more: Pick<Schemas['BanLicensesRequest'], 'reason' | 'ban_users'>): RunStep =>
      async (target, options) => {
        const input = { path, body: { ...select(target, options), ...more }, signal: readSignal(options) };
        const { body, requestId } = await callForResult('POST /api/v2/dev/apps/{app_id}/licenses/ban', input);
        return stepOf(body, requestId);
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

function selectListed(filter: LicenseFilter): Pick<Schemas['ChangeLicensesRequest'], 'filter' | 'all'> {
  const members = toQuery(filter);
  return Object.keys(members).length > 0 ? { filter: members } : { all: true };
}

function stepOf(result: Schemas['ChangeLicensesResult'], requestId: string | undefined): BulkStep {
  return {
    matched: result.matched,
    changed: result.changed,
    unchanged: result.unchanged.map(({ license_id, code }) => ({ id: license_id, code })),
    next: result.next_cursor,
    requestId,
  };
}
