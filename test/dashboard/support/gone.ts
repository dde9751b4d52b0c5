import type { Locator } from 'playwright-core';
import { expect } from 'vitest';

/** Resolves when nothing matches. `waitFor` would refuse a locator that matches two dialogs while both close. */
export const gone = (locator: Locator): Promise<void> => expect.poll(() => locator.count()).toBe(0);
