import { expect } from 'vitest';
import type { Answer } from '../../support/api.ts';

/** Expects an error answer; that it is a problem that the contract declares has been seen to by the call. */
export function expectError(answer: Answer<object>, status: number, code: string): void {
  expect({ status: answer.status, code: (answer.body as { code?: unknown }).code }).toEqual({ status, code });
}

/** Expects a refusal of certain members of the request. */
export function expectFaults(answer: Answer<object>, ...pointers: string[]): void {
  expectError(answer, 400, 'VALIDATION_FAILED');
  const { errors } = answer.body as { errors: { pointer: string }[] };
  expect([...new Set(errors.map(({ pointer }) => pointer))].sort()).toEqual([...pointers].sort());
}

/** An error answer without what differs between any two requests. */
export function comparable({ status, body }: Answer<object>): object {
  const { request_id, timestamp, instance, ...rest } = body as Record<string, unknown>;
  expect([request_id, timestamp, instance]).not.toContain(undefined);
  return { status, ...rest };
}
