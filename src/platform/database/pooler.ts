import pg from 'pg';

const ROUNDS = 4;
const PROBE = 'latchkey.probe';
// A prepared statement that a backend does not know, or knows already.
const UNPREPARED = /^(26000|42P05)$/;

/** What is between us and the server's sessions. */
export interface Pooler {
  /** `none` when the connections are PostgreSQL's own, or those of a pooler that hands out whole sessions. */
  readonly shares: 'none' | 'transactions';
  /** Whether named statements work. */
  readonly preparesStatements: boolean;
}

/**
 * Finds out by what happens whether two connections are given one backend: no pooler tells its users what it is.
 * @param open makes a client that is not connected
 */
export async function detectPooler(open: () => pg.Client): Promise<Pooler> {
  const first = open();
  const others: pg.Client[] = [];
  first.on('error', () => {});
  try {
    await first.connect();
    // A pooler makes up the number that it tells its clients when they connect.
    const token = String((first as pg.Client & { processID: number | null }).processID);
    const { rows } = await first.query<{ pid: string }>(
      'select pg_backend_pid()::text as pid, set_config($1, $2, false)',
      [PROBE, token],
    );
    if (rows[0]!.pid === token) return { shares: 'none', preparesStatements: true };
    const statement = { name: `probe_${token}`, text: 'select 1' };

    const sees = async (client: pg.Client) =>
      (await client.query<{ value: string | null }>('select current_setting($1, true) as value', [PROBE]))
        .rows[0]!.value === token;
    await first.query(statement);
    let shares = false;
    for (let round = 0; round < ROUNDS && !shares; round += 1) {
      // Each holds what it got, so that the next one gets another.
      const other = open();
      others.push(other);
      other.on('error', () => {});
      await other.connect();
      await other.query('begin');
      shares = (await sees(other)) || !(await sees(first));
    }
    if (!shares) return { shares: 'none', preparesStatements: true };
    return { shares: 'transactions', preparesStatements: await prepares([first, ...others], statement) };
  } finally {
    for (const client of [...others, first]) void client.end().catch(() => {});
  }
}

/** Whether one name serves on whatever backends these clients have got. */
async function prepares(clients: readonly pg.Client[], statement: pg.QueryConfig): Promise<boolean> {
  try {
    for (const client of clients) await client.query(statement);
    return true;
  } catch (error) {
    if (UNPREPARED.test((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}
