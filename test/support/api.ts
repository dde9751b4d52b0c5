import type { components, operations } from '../../generated/types.ts';
import { bodyOf, expectContract } from './exchange.ts';

type Schemas = components['schemas'];

export interface ApiResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  /** The body as it was received. */
  readonly text?: string;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
}

/** A client of a service that checks every exchange against the contract. */
export class Api {
  readonly baseUrl: string;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /**
   * @param body an object is sent as JSON, a string or bytes unchanged
   * @returns the response. A body other than JSON is text, and an event stream has headers only
   */
  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    { token, headers = {} }: CallOptions = {},
  ): Promise<ApiResponse<Body>> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(this.baseUrl + path, {
      method,
      headers: {
        accept: '*/*',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? (body as RequestInit['body']) : JSON.stringify(body) }),
    });
    const text = await textOf(response);
    expectContract({ method, path, status: response.status, headers: response.headers, text });
    const { status, headers: received } = response;
    return { status, headers: received, body: bodyOf({ headers: received, text }) as Body, text };
  }

  post<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<ApiResponse<Body>> {
    return this.call<Body>('POST', path, body, options);
  }

  init = (body: Schemas['InitApplicationRequest'] & object) => this.post('/api/v1/client/init', body);
  register = (body: Schemas['RegisterUserRequest']) => this.post('/api/v1/client/register', body);
  login = (body: Schemas['LoginUserRequest']) =>
    this.post<Schemas['LoginUserResult']>('/api/v1/client/login', body);
  verify = (body: Schemas['VerifySessionRequest']) =>
    this.post<Schemas['VerifySessionResult'] & { code?: string }>('/api/v1/client/verify-session', body);
  activate = (body: Schemas['ActivateLicenseRequest']) =>
    this.post<Schemas['ActivateLicenseResult'] & { code?: string }>('/api/v1/client/activate', body);
  logout = (body: Schemas['LogoutUserRequest']) => this.post('/api/v1/client/logout', body);
  plans = () => this.call<Schemas['PlanList']>('GET', '/api/v1/client/plans');
  health = () => this.call<Schemas['HealthResult'] & Problem>('GET', '/health');

  // These accept the result of `signed`, or a body alone.
  loginV2 = (body: Sent<'LoginUserV2Request'>, headers?: Fields) =>
    this.#send<'SignedSessionResult'>('/api/v2/client/login', body, headers);
  loginWithLicense = (body: Sent<'LoginWithLicenseRequest'>, headers?: Fields) =>
    this.#send<'SignedSessionResult'>('/api/v2/client/login-license', body, headers);
  verifyV2 = (body: Sent<'VerifySessionV2Request'>, headers?: Fields) =>
    this.#send<'VerifySessionV2Result'>('/api/v2/client/verify-session', body, headers);
  logoutV2 = (body: Sent<'LogoutUserV2Request'>, headers?: Fields) =>
    this.#send<'LogoutUserV2Result'>('/api/v2/client/logout', body, headers);
  sandbox = (body: Sent<'AuthenticateSandboxRequest'>) =>
    this.#send<'AuthenticateSandboxResult'>('/api/v1/sandbox/auth', body);
  verifySandbox = (body: Sent<'VerifySessionRequest'>) =>
    this.#send<'VerifySandboxSessionResult'>('/api/v1/sandbox/verify-session', body);

  #send<Result extends keyof Schemas>(
    path: string,
    body: unknown,
    headers: Fields = {},
  ): Promise<ApiResponse<Schemas[Result] & Problem>> {
    return this.post(path, body, { headers });
  }
}

/** The additional members of a refusal. */
interface Problem {
  readonly code?: string;
  readonly detail?: string;
}

/** A body, or its text if a signature covers the bytes. */
type Sent<Request extends keyof Schemas> = Schemas[Request] | string;

type Fields = Record<string, string>;

export type OperationId = keyof operations;

/** The start of an endless stream, or the whole text. */
async function textOf(response: Response): Promise<string> {
  const endless = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!endless || !response.body) return response.text();
  const reader = response.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return Buffer.from(value ?? []).toString();
}
