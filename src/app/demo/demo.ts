import type { Knex } from 'knex';
import { withAdvisoryLock } from '../../platform/database/advisory-lock.ts';
import type { Random } from '../../platform/random.ts';
import type { Services } from '../../services.ts';
import { sellDemoPlans } from './demo-plans.ts';

const EMAIL = 'demo@latchkey.example';
const KEYS = 3;
const PAGE = 100;

/** What a new developer needs for the first calls. */
export interface Demo {
  readonly email: string;
  /** Known only if the developer was just created. */
  readonly password: string | undefined;
  readonly appId: string;
  readonly secret: string;
  readonly licenseKeys: readonly string[];
}

/** Ensures that there are plans on sale, a demo developer, an application and three unused license keys. */
export async function prepareDemo(services: Services, knex: Knex, random: Random): Promise<Demo> {
  // When several processes start on one database, one creates it and the others find it.
  return withAdvisoryLock(knex, EMAIL, () => findOrCreate(services, random));
}

async function findOrCreate(services: Services, random: Random): Promise<Demo> {
  await sellDemoPlans(services.plans);
  const { developerId, password } = await findOrRegister(services, random);
  const actor = { kind: 'service', id: 'demo', developerId, address: '127.0.0.1' } as const;
  const { data } = await services.applications.list(developerId, { limit: 1, cursor: undefined });
  const application = data[0] ?? (await services.applications.create(actor, 'Demo application')).application;
  const secret = await services.applications.secretOf(developerId, application.appId);
  const unused = await unusedKeys(services, developerId, application.appId);
  if (unused.length < KEYS) {
    const made = await services.licenses.create(actor, application.appId, {
      amount: KEYS - unused.length,
      durationDays: 30,
      tier: application.tiers[0]!,
      redeemBy: null,
      note: 'demo',
    });
    unused.push(...made.map(({ licenseKey }) => licenseKey));
  }
  return { email: EMAIL, password, appId: application.appId, secret, licenseKeys: unused };
}

async function findOrRegister(
  { developers }: Services,
  random: Random,
): Promise<{ developerId: string; password?: string }> {
  const developerId = await developers.idOf(EMAIL);
  if (developerId !== undefined) return { developerId };
  const password = random.bytes(12).toString('base64url');
  const made = await developers.register({ email: EMAIL, password, name: 'Demo' }, { address: '127.0.0.1' });
  return { developerId: made.developerId, password };
}

async function unusedKeys({ licenses }: Services, developerId: string, appId: string): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await licenses.list(developerId, appId, { limit: PAGE, cursor });
    for (const license of page.data) if (license.status === 'unused') keys.push(license.licenseKey);
    cursor = page.nextCursor ?? undefined;
  } while (cursor && keys.length < KEYS);
  return keys.slice(0, KEYS);
}
