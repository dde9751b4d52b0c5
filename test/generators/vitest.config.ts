import { globSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { VerifiedReporter } from './support/verified.ts';

const INCLUDE = 'test/generators/*.generator.ts';
const ROOT = new URL('../..', import.meta.url).pathname;

/**
 * `npm run test:generators`: clients that other people's generators make from `generated/openapi.json`. Their names do
 * not end in .test.ts, so `npm test` skips them: they need compilers and package registries.
 */
export default defineConfig({
  root: ROOT,
  test: {
    include: [INCLUDE],
    reporters: ['default', new VerifiedReporter(globSync(INCLUDE, { cwd: ROOT }).length)],
    globalSetup: ['test/support/postgres-server.ts'],
    setupFiles: ['test/support/setup.ts'],
    maxWorkers: 2,
    // Compilers take minutes on a busy machine.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
});
