import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

const CONTRACT = 'generated/openapi.json';
const VERIFIED = 'test/generators/verified.sha256';

/**
 * Writes down the contract that all generators have passed with, in the form of `sha256sum --check`, so that CI repeats
 * only the quick ones until the contract changes.
 */
export class VerifiedReporter implements Reporter {
  readonly #files: number;
  // The contract may be generated again while the tests run.
  readonly #hash = createHash('sha256').update(readFileSync(CONTRACT)).digest('hex');

  /** @param files how many test files there are */
  constructor(files: number) {
    this.#files = files;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[], reason: string): void {
    const hasSkipped = modules.some((module) => [...module.children.allTests('skipped')].length > 0);
    if (reason !== 'passed' || errors.length > 0 || hasSkipped || modules.length < this.#files) return;
    writeFileSync(VERIFIED, `${this.#hash}  ${CONTRACT}\n`);
  }
}
