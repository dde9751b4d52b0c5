import { expect, test } from 'vitest';
import { newApp } from '../../support/fixtures.ts';
import type { TestService } from '../../support/service.ts';
import { comparable, expectError, expectFaults } from './errors.ts';
import { ABSENT_USER, callUsers, registered, viewOf } from './users.ts';

/**
 * Tests of an operation on a user: an absent user, one of a sibling application and one of another developer's cannot
 * be distinguished, and do not change.
 */
export function testForeignUsers({ api }: TestService, method: string, path: string, body?: unknown): void {
  test('USER_NOT_FOUND is the same for another application’s user and an absent one', async () => {
    const app = await newApp(api);
    const sibling = await newApp(api);
    const { userId } = await registered(api, sibling);
    const before = await viewOf(api, sibling, userId);
    const foreign = await callUsers(api, app, method, `/${userId}${path}`, body);
    expectError(foreign, 404, 'USER_NOT_FOUND');
    for (const absent of [ABSENT_USER, 'nonsense', app.app_id, '%F0%9F%A6%8A']) {
      const response = await callUsers(api, app, method, `/${absent}${path}`, body);
      expect(comparable(response)).toEqual(comparable(foreign));
    }
    expect(await viewOf(api, sibling, userId)).toEqual(before);
  });

  test('APPLICATION_NOT_FOUND for another developer’s, whose user does not change', async () => {
    const [app, other] = [await newApp(api), await newApp(api)];
    const { userId } = await registered(api, app);
    const before = await viewOf(api, app, userId);
    const stranger = { app_id: app.app_id, token: other.token };
    expectError(
      await callUsers(api, stranger, method, `/${userId}${path}`, body),
      404,
      'APPLICATION_NOT_FOUND',
    );
    expect(await viewOf(api, app, userId)).toEqual(before);
  });

  test('VALIDATION_FAILED for an identifier that is too long', async () => {
    const response = await callUsers(api, await newApp(api), method, `/${'u'.repeat(65)}${path}`, body);
    expectFaults(response, 'path/user_id');
  });
}
