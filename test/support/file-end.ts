import { afterAll } from 'vitest';
import { endFile } from './at-file-end.ts';

// Of each test file this is the first, so that what it has to do comes last.
afterAll(endFile, 120_000);
