import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of processor time by process id. */
export type CpuTimes = ReadonlyMap<number, number>;

/** The parent of this process; undefined where the system does not report it (anywhere but on Linux). */
export function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in parentheses and may contain anything; the state and the parent follow.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** The processes that a process has started and that still run. */
export function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => parentOf(pid) === parent);
}

/** How much processor time processes have used so far. Those that are gone are left out. */
export function cpuTimes(pids: readonly number[]): CpuTimes {
  const times = new Map<number, number>();
  for (const pid of pids) {
    try {
      // The scheduler's own account, in nanoseconds; /proc/<pid>/stat counts in steps of 10 ms.
      const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
      times.set(pid, Number(nanoseconds) / 1000);
    } catch {
      continue;
    }
  }
  return times;
}

/** What processes used between two readings; one that was not there before has begun at 0. */
export function cpuBetween(before: CpuTimes, after: CpuTimes): number {
  let sum = 0;
  for (const [pid, time] of after) sum += time - (before.get(pid) ?? 0);
  return sum;
}
