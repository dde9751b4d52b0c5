const ROUNDS = 10;
const MOST = 3;
/** The processor time of the work below on the machine for which limits are chosen, in milliseconds. */
const EXPECTED_MS = 3.5;

const rows = Array.from({ length: 5_000 }, (_, index) => ({
  id: `row-${index}`,
  name: 'n'.repeat(50),
  days: index,
}));

/** How many times slower this machine is at the moment, from 1 to 3. */
export function slowdown(): number {
  const times = Array.from({ length: ROUNDS }, serializeRows).sort((a, b) => a - b);
  return Math.min(Math.max(1, times[ROUNDS / 2]! / EXPECTED_MS), MOST);
}

function serializeRows(): number {
  const before = process.cpuUsage();
  JSON.parse(JSON.stringify(rows));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
