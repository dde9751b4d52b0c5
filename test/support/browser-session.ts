import type { components } from '../../generated/types.ts';
import type { Api, ApiResponse, CallOptions } from './api.ts';

type Schemas = components['schemas'];

/** The header that a browser sends with a request of the service's own pages. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** Sends credentials as the sign-in page of the dashboard does. */
export const signIn = (
  api: Api,
  credentials: object,
  headers: Record<string, string> = SAME_ORIGIN,
): Promise<ApiResponse<Schemas['CreateBrowserSessionResult']>> =>
  api.post('/api/v2/dev/browser-sessions', credentials, { headers });

/** The cookie that a response sets, as a browser sends it back. */
export function cookieOf({ headers }: Pick<ApiResponse, 'headers'>): string {
  const [cookie] = headers.getSetCookie();
  if (cookie === undefined) throw new Error('the response sets no cookie');
  return cookie.split(';')[0]!;
}

/** Signs a browser in. @returns the options of its requests */
export async function newBrowserSession(
  api: Api,
  credentials: { readonly email: string; readonly password: string } | { readonly token: string },
): Promise<CallOptions & { readonly headers: Record<string, string> }> {
  const wanted =
    'email' in credentials
      ? { email: credentials.email, password: credentials.password }
      : { token: credentials.token };
  const response = await signIn(api, wanted);
  if (response.status !== 201) throw new Error(`createBrowserSession returned ${response.status}`);
  return { headers: { ...SAME_ORIGIN, cookie: cookieOf(response) } };
}
