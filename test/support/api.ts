import type { components, operations } from '../../generated/types.ts';
import { expectContract } from './exchange.ts';

type Schemas = components['schemas'];

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
}

/** Calls a service as a client does. Every exchange is held against the contract. */
export class Api {
  readonly baseUrl: string;

  constructor(baseUrl: string) {
    this.baseUrl = baseUrl;
  }

  /** @param body an object is sent as JSON, a string or bytes as they are */
  async call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    { token, headers = {} }: CallOptions = {},
  ): Promise<Answer<Body>> {
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
    const text = await response.text();
    expectContract({ method, path, status: response.status, headers: response.headers, text });
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Body };
  }

  post<Body = Record<string, unknown>>(
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<Answer<Body>> {
    return this.call<Body>('POST', path, body, options);
  }

  init = (body: Schemas['InitRequest'] & object) => this.post('/api/v1/client/init', body);
  register = (body: Schemas['RegisterRequest']) => this.post('/api/v1/client/register', body);
  login = (body: Schemas['LoginRequest']) => this.post<Schemas['Session']>('/api/v1/client/login', body);
  verify = (body: Schemas['VerifySessionRequest']) =>
    this.post<Schemas['VerificationResult'] & { code?: string }>('/api/v1/client/verify-session', body);
  activate = (body: Schemas['ActivateRequest']) =>
    this.post<Schemas['ActivationResult'] & { code?: string }>('/api/v1/client/activate', body);
  logout = (body: Schemas['LogoutRequest']) => this.post('/api/v1/client/logout', body);
}

export type OperationId = keyof operations;
