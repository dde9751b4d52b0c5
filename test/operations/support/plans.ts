import { connectTo } from '../../support/database.ts';
import { unique, type Developer } from '../../support/fixtures.ts';

/** Puts a developer on a plan with these quotas. */
export async function limitPlan(
  databaseUrl: string,
  developer: Developer,
  { apps = 25, users = 100, licenses }: { apps?: number; users?: number; licenses?: number },
): Promise<void> {
  const database = await connectTo(databaseUrl);
  const plan = unique('plan');
  await database.query(
    'insert into plans (plan_id, name, max_apps, max_users_per_app, max_licenses) values ($1, $1, $2, $3, $4)',
    [plan, apps, users, licenses ?? null],
  );
  await database.query('update developers set plan_id = $1 where developer_id = $2', [
    plan,
    developer.developerId,
  ]);
}
