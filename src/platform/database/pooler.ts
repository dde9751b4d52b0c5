import pg from 'pg';

const ROUNDS = 4;
const PROBE = 'latchkey.probe';
// A prepared statement that a backend does not know, or already knows.
const UNPREPARED = /^(26000|42P05)$/;

/** What is between the service and the server's sessions. */
export interface Pooler {
  /** `none` if the connections are PostgreSQL's own, or those of a pooler in session mode. */
  readonly shares: 'none' | 'transactions';
  /** Whether named statements work. */
  readonly preparesStatements: boolean;
}

/**
 * Detects by experiment whether two connections share a backend, because poolers do not identify themselves.
 * @param first a connected client
 * @param open creates a client that is not connected
 */
export async function detectPooler(first: pg.Client, open: () => pg.Client): Promise<Pooler> {
  const others: pg.Client[] = [];
  try {
    // The process id that a pooler sends at connect is not that of a backend.
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
      // Each keeps its backend, so that the next one gets another.
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
    for (const client of others) void client.end().catch(() => {});
  }
}

/** Whether one statement name works on all backends of these clients. */
async function prepares(clients: readonly pg.Client[], statement: pg.QueryConfig): Promise<boolean> {
  try {
    for (const client of clients) await client.query(statement);
    return true;
  } catch (error) {
    if (UNPREPARED.test((error as { code?: string }).code ?? '')) return false;
    throw error;
  }
}
