import { afterAll } from 'vitest';
import { endFile } from './at-file-end.ts';

// Runs first in each test file, so that its clean-up runs last.
afterAll(endFile, 120_000);
