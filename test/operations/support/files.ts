import { createHash, randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { components } from '../../../generated/types.ts';
import { atFileEnd } from '../../support/at-file-end.ts';
import type { ApiResponse, Api, CallOptions } from '../../support/api.ts';
import { bodyOf, expectContract } from '../../support/exchange.ts';
import type { App } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/processes.ts';
import { startTestService, type TestService } from '../../support/service.ts';

type Schemas = components['schemas'];

export type FileResponse = ApiResponse<Schemas['HostedFileResult']>;

export interface FileService extends TestService {
  /** The names of the contents in its folder. */
  contents(): Promise<string[]>;
}

/** A service that keeps its files in a folder of its own. */
export async function startFileService(settings: Record<string, string> = {}): Promise<FileService> {
  const dataDir = await temporaryFolder(atFileEnd);
  const service = await startTestService({ DATA_DIR: dataDir, ...settings });
  return { ...service, contents: () => readdir(join(dataDir, 'files')).catch(() => []) };
}

export function sha256(content: Uint8Array, encoding: 'hex' | 'base64' = 'hex'): string {
  return createHash('sha256').update(content).digest(encoding);
}

/** A unique content. */
export function newContent(bytes = 1000): Buffer {
  return randomBytes(bytes);
}

/** The path of an application's files for its developer. */
export function filesOf({ app_id }: Pick<App, 'app_id'>): string {
  return `/api/v2/dev/apps/${app_id}/files`;
}

/** @param name is percent-encoded here */
export function fileOf(app: Pick<App, 'app_id'>, name: string): string {
  return `${filesOf(app)}/${encodeURIComponent(name)}`;
}

/** The path where a client program downloads a file. */
export function downloadOf({ app_id }: Pick<App, 'app_id'>, name: string): string {
  return `/api/v2/client/apps/${app_id}/files/${encodeURIComponent(name)}`;
}

/** Tries to upload a file. @param query with its question mark */
export function putFile(
  api: Api,
  app: App,
  name: string,
  content: Uint8Array | string,
  query = '',
  headers: Record<string, string> = {},
): Promise<FileResponse> {
  return api.call('PUT', fileOf(app, name) + query, content, {
    token: app.token,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  });
}

/** Uploads a file. */
export async function upload(
  api: Api,
  app: App,
  name: string,
  content: Uint8Array | string,
  query = '',
): Promise<Schemas['HostedFileResult']> {
  const response = await putFile(api, app, name, content, query);
  expect(response.status).toBe(200);
  return response.body;
}

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly content: Buffer;
  /** Of an error. */
  readonly body: { readonly code?: string };
}

/** Downloads the raw bytes, and checks the exchange against the contract. */
export async function download(
  api: Api,
  path: string,
  { token, headers = {}, method = 'GET' }: CallOptions & { readonly method?: string } = {},
): Promise<Downloaded> {
  const response = await fetch(api.baseUrl + path, {
    method,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
  });
  const { status } = response;
  const content = Buffer.from(await response.arrayBuffer());
  const text = status >= 400 ? content.toString() : '';
  // A refusal without its body cannot be checked against the contract.
  if (method !== 'HEAD' || status < 400)
    expectContract({
      method: method === 'HEAD' ? 'GET' : method,
      path,
      status,
      headers: response.headers,
      text,
    });
  const body = (bodyOf({ headers: response.headers, text }) ?? {}) as Downloaded['body'];
  return { status, headers: response.headers, content, body };
}
