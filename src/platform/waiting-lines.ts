import pLimit, { type LimitFunction } from 'p-limit';

/** Lines of work, one for each name: nobody waits behind work of another name. */
export interface WaitingLines {
  /** How many stand in a line, those whose work is under way among them. */
  length(name: string): number;
  /** Does work when it is its turn in its line. */
  stand<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
}

/** @param atOnce so many of each line are at work */
export function createWaitingLines(atOnce: number): WaitingLines {
  const lines = new Map<string, { readonly limit: LimitFunction; length: number }>();

  return {
    length: (name) => lines.get(name)?.length ?? 0,

    async stand(name, work) {
      const line = lines.get(name) ?? { limit: pLimit(atOnce), length: 0 };
      lines.set(name, line);
      line.length += 1;
      try {
        return await line.limit(work);
      } finally {
        line.length -= 1;
        if (line.length === 0) lines.delete(name);
      }
    },
  };
}
