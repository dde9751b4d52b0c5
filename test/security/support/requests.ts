import { expect } from 'vitest';
import { bodyFor, prepare } from '../../contract/examples.ts';
import type { ContractOperation } from '../../contract/operations.ts';
import {
  deviceHeaders,
  locate,
  newOwner,
  pageHeaders,
  queryOf,
  tokenFor,
  type Owner,
} from '../../contract/parameters.ts';
import { sign } from '../../concurrency/signed.ts';
import { licensesOf } from '../../operations/support/licenses.ts';
import type { ApiResponse } from '../../support/api.ts';
import { paymentEventWriter } from '../../support/billing.ts';
import { newUser } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';

/** Changes of a valid request. */
export interface Difference {
  readonly path?: string;
  /** Includes the question mark. */
  readonly query?: string;
  /** An object, or its text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly token?: string;
}

/** A valid request for an operation, by a caller who may send it. */
export interface Request {
  readonly owner: Owner;
  readonly path: string;
  readonly query: string;
  readonly body: unknown;
  send(difference?: Difference): Promise<ApiResponse>;
}

interface Located {
  readonly owner: Owner;
  readonly path: string;
}

/** Preparations without which an operation has nothing to do. */
const PREPARED: Readonly<Record<string, (at: Located) => Promise<unknown>>> = {
  unbanLicense: ({ owner, path }) => owner.api.post(path.replace(/unban$/, 'ban'), {}, owner.developer),
  resumeLicense: ({ owner, path }) =>
    owner.api.post(path.replace(/resume$/, 'pause'), undefined, owner.developer),
  unbanUser: ({ owner, path }) => owner.api.post(path.replace(/unban$/, 'ban'), {}, owner.developer),
};

/** Paths of operations that need more than the owner's common resources. */
const LOCATED: Readonly<Record<string, (owner: Owner) => Promise<string>>> = {
  transferLicense: async ({ api, app }) => {
    const [license] = await licensesOf(api, app).create(1);
    const { username } = await newUser(api, app);
    await api.activate(app.with({ username, license_key: license!.license_key }));
    return `/api/v2/dev/apps/${app.app_id}/licenses/${license!.license_id}/transfer`;
  },
};

/** Members of an example that name resources of the owner. */
const NAMED: Readonly<Record<string, (owner: Owner) => Promise<object>>> = {
  extendLicenses: async (owner) => {
    const path = await locate(owner, '/api/v2/dev/apps/{app_id}/licenses/{license_id}');
    return { license_ids: [path.split('/').at(-1)] };
  },
};

/**
 * Creates what an operation's example needs.
 * @param owner a new one by default
 */
export async function requestOf(
  service: Pick<TestService, 'api' | 'clock' | 'database' | 'mailbox'>,
  operation: ContractOperation,
  owner?: Owner,
): Promise<Request> {
  const { api, clock } = service;
  const processor =
    operation.operationId === 'receivePaymentEvent' ? await paymentEventWriter(service) : undefined;
  const caller = owner ?? (await newOwner(api));
  await prepare(caller, operation);
  const path = await (LOCATED[operation.operationId]?.(caller) ?? locate(caller, operation.path));
  const query = queryOf(operation);
  await PREPARED[operation.operationId]?.({ owner: caller, path });
  const named = await NAMED[operation.operationId]?.(caller);
  const example = await bodyFor(caller, operation, service);
  const body = processor
    ? (JSON.parse(processor.event([])) as object)
    : named
      ? { ...(example as object), ...named }
      : example;
  const token = await tokenFor(caller, operation);
  const ofPages = await pageHeaders(caller, operation);
  return {
    owner: caller,
    path,
    query,
    body,
    send(difference = {}) {
      const sent = { path, query, body, token, ...difference };
      const text =
        typeof sent.body === 'object' && !(sent.body instanceof Uint8Array)
          ? JSON.stringify(sent.body)
          : sent.body;
      return api.call(operation.method, sent.path + sent.query, text, {
        token: sent.token,
        headers: {
          ...ofPages,
          ...deviceHeaders(caller, operation, sent.path + sent.query, text, clock.now()),
          ...(operation.requestBody && { 'content-type': operation.requestBody.mediaType }),
          ...(operation.signature &&
            typeof text === 'string' &&
            sign(caller.app, text, clock.now().getTime()).headers),
          ...(typeof text === 'string' && processor?.headers(text)),
          ...sent.headers,
        },
      });
    },
  };
}

/** Sends a request that may fail, but not with a 5xx or against the contract. */
export async function expectNoFailure(response: Promise<ApiResponse>, what: string): Promise<ApiResponse> {
  const { status, headers, body } = await response.catch((error: Error) => {
    throw new Error(`${what}: ${error.message}`, { cause: error });
  });
  expect(status, `${what}: ${JSON.stringify(body)}`).toBeLessThan(500);
  return { status, headers, body };
}
