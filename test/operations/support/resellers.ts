import type { components } from '../../../generated/types.ts';
import type { ApiResponse, Api } from '../../support/api.ts';
import { unique, type App } from '../../support/fixtures.ts';

type Schemas = components['schemas'];
export type WantedPrice = Schemas['SetResellerPricesRequest']['prices'][number];

/** A reseller of the application's developer, with a token. */
export interface TestReseller {
  readonly reseller_id: string;
  /** The reseller's token. */
  readonly token: string;
  /** The reseller's path in the developer's API. */
  readonly path: string;
  credit(amount: number): Promise<void>;
  price(...prices: WantedPrice[]): Promise<void>;
  /** Changes the reseller as the developer. */
  patch(changes: Schemas['UpdateResellerRequest']): Promise<void>;
  /** Buys keys, by default one for 30 days of Pro, which has a price. */
  buy(fields?: object, headers?: Record<string, string>): Promise<ApiResponse<Purchase>>;
  /** Buys keys and returns them. */
  keys(amount: number): Promise<Purchase['licenses']>;
  /** The balance that the reseller sees. */
  balance(): Promise<number>;
}

export type Purchase = Schemas['CreateResellerLicensesResult'] & {
  readonly code?: string;
  readonly detail?: string;
};

export interface ResellerFields {
  readonly currency?: string;
  readonly commission_margin?: number;
  readonly balance?: number;
  /** Of 30 days of Pro; null for no price. */
  readonly price?: number | null;
  readonly scopes?: ('read' | 'write')[];
}

function expectStatus(what: string, { status, body }: ApiResponse<object>, wanted: number): void {
  if (status !== wanted) throw new Error(`${what} returned ${status} ${JSON.stringify(body)}`);
}

/** Creates a reseller with a balance, a price for 30 days of Pro, and a token. */
export async function newReseller(api: Api, app: App, fields: ResellerFields = {}): Promise<TestReseller> {
  const {
    currency = 'USD',
    commission_margin = 0,
    balance = 0,
    price = 10,
    scopes = ['read', 'write'],
  } = fields;
  const { token } = app;
  const made = await api.post<Schemas['ResellerResult']>(
    '/api/v2/dev/resellers',
    { name: unique('Reseller'), currency, commission_margin },
    { token },
  );
  expectStatus('createReseller', made, 201);
  const { reseller_id } = made.body;
  const path = `/api/v2/dev/resellers/${reseller_id}`;
  const own = await newResellerToken(api, app, reseller_id, scopes);
  const buy: TestReseller['buy'] = (more = {}, headers = {}) =>
    api.post<Purchase>(
      '/api/v2/dev/reseller/licenses',
      { app_id: app.app_id, tier: 'Pro', duration_days: 30, amount: 1, ...more },
      { token: own, headers },
    );
  const reseller: TestReseller = {
    reseller_id,
    token: own,
    path,
    async credit(amount) {
      expectStatus('creditReseller', await api.post(`${path}/credits`, { amount }, { token }), 201);
    },
    async price(...prices) {
      expectStatus('setResellerPrices', await api.call('PUT', `${path}/prices`, { prices }, { token }), 200);
    },
    async patch(changes) {
      expectStatus('updateReseller', await api.call('PATCH', path, changes, { token }), 200);
    },
    buy,
    async keys(amount) {
      const response = await buy({ amount });
      expectStatus('createResellerLicenses', response, 201);
      return response.body.licenses;
    },
    async balance() {
      const response = await api.call<Schemas['OwnResellerResult']>(
        'GET',
        '/api/v2/dev/reseller',
        undefined,
        {
          token: own,
        },
      );
      expectStatus('getOwnReseller', response, 200);
      return response.body.balance;
    },
  };
  if (price !== null) await reseller.price({ app_id: app.app_id, tier: 'Pro', duration_days: 30, price });
  if (balance > 0) await reseller.credit(balance);
  return reseller;
}

/** Creates another token of a reseller. */
export async function newResellerToken(
  api: Api,
  app: App,
  resellerId: string,
  scopes: ('read' | 'write')[] = ['read', 'write'],
): Promise<string> {
  const path = `/api/v2/dev/resellers/${resellerId}/tokens`;
  const wanted = { name: 'Shop', scopes };
  const response = await api.post<Schemas['CreateApiTokenResult']>(path, wanted, { token: app.token });
  expectStatus('createResellerToken', response, 201);
  return response.body.token;
}

/** The id of an absent reseller. */
export const ABSENT_RESELLER = 'rsl_01kazmd4p7fy3t6w9z2b5e8h1k';
