import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

/** Resolves when nothing matches. `waitFor` would refuse a locator that matches two dialogs while both close. */
export const gone = (locator: Locator): Promise<void> =>
  expect.poll(() => locator.count(), { timeout: 15_000 }).toBe(0);
