import { newUser } from '../../../support/fixtures.ts';
import type { TestService } from '../../../support/service.ts';
import type { Account } from '../account.ts';
import type { Area, DashboardRoute } from '../area.ts';

const routes: readonly DashboardRoute[] = [
  { name: 'the home of a reseller', path: () => '/reseller', shows: 'Keys by day' },
  { name: 'buying as a reseller', path: () => '/reseller/buy', shows: 'Balance after it' },
  { name: 'keys of a reseller', path: () => '/reseller/keys', shows: '6 keys' },
  {
    name: 'a key of a reseller',
    path: () => `/reseller/keys?key=${keyId}`,
    shows: 'Return key',
  },
  { name: 'users of a reseller', path: () => '/reseller/users', shows: '1 user' },
  { name: 'the ledger of a reseller', path: () => '/reseller/ledger', shows: 'Keys bought' },
];

let keyId: string;

/** Several prices, keys that were bought, redeemed and returned, and a user with a hostile name. */
async function prepare({ api }: TestService, { app, reseller }: Account): Promise<void> {
  await reseller.price(
    { app_id: app.app_id, tier: 'Pro', duration_days: 30, price: 12.5 },
    { app_id: app.app_id, tier: 'Pro', duration_days: 365, price: 99 },
    { app_id: app.app_id, tier: 'Team', duration_days: null, price: 19.99 },
  );
  const { licenses } = (await reseller.buy({ amount: 7, note: 'Order 1042' })).body;
  const [first, second, returned] = licenses;
  keyId = first!.license_id;
  const user = await newUser(api, app, { username: `<img onerror>${'long'.repeat(12)}` });
  await api.activate(app.with({ username: user.username, license_key: second!.license_key }));
  const path = `/api/v2/dev/reseller/licenses/${returned!.license_id}/refund`;
  await api.post(path, undefined, { token: reseller.token });
}

/** The console of a reseller. */
export const reseller: Area = { visitor: 'reseller', prepare, routes };
