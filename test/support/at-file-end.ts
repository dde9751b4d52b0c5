const cleanUps: (() => unknown)[] = [];

/**
 * Cleans up at the end of the test file, whether a file, a hook or a test calls it. Vitest ignores the `afterAll` of
 * the latter two.
 */
export function atFileEnd(cleanUp: () => unknown): void {
  cleanUps.push(cleanUp);
}

/** Cleans up in reverse order. @throws if something fails, after everything else */
export async function endFile(): Promise<void> {
  const failures: unknown[] = [];
  for (let cleanUp = cleanUps.pop(); cleanUp; cleanUp = cleanUps.pop()) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'A test file could not be cleaned up after');
}
