/** Remembers the newest ids of a stream, so that what two tabs have read at a handover is passed on once. */
export function createRecentIds(atMost = 5_000) {
  const ids = new Set<string>();
  return {
    has: (id: string) => ids.has(id),
    /** @returns whether it is new */
    add(id: string): boolean {
      if (ids.has(id)) return false;
      ids.add(id);
      if (ids.size > atMost) ids.delete(ids.values().next().value!);
      return true;
    },
  };
}
