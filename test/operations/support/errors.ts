import { expect } from 'vitest';
import type { ApiResponse } from '../../support/api.ts';

/** Expects an error response. The call has checked that it is a problem that the contract declares. */
export function expectError(response: ApiResponse<object>, status: number, code: string): void {
  expect({ status: response.status, code: (response.body as { code?: unknown }).code }).toEqual({
    status,
    code,
  });
}

/** Expects a refusal of certain members of the request. */
export function expectFaults(response: ApiResponse<object>, ...pointers: string[]): void {
  expectError(response, 400, 'VALIDATION_FAILED');
  const { errors } = response.body as { errors: { pointer: string }[] };
  expect([...new Set(errors.map(({ pointer }) => pointer))].sort()).toEqual([...pointers].sort());
}

/** An error response without the members that differ between any two requests. */
export function comparable({ status, body }: ApiResponse<object>): object {
  const { request_id, timestamp, instance, ...rest } = body as Record<string, unknown>;
  expect([request_id, timestamp, instance]).not.toContain(undefined);
  return { status, ...rest };
}
