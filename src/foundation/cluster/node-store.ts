import type { Knex } from 'knex';
import type pg from 'pg';

export interface NodeRow {
  readonly node_id: string;
  readonly seen_at: Date;
  /** Null for an older version of the service. */
  readonly version: string | null;
  readonly started_at: Date | null;
}

/**
 * Records that a node is alive. The row need not be durable, so its commit does not wait for a standby: nodes
 * still see each other while the standby is lost. A separate pool keeps it from waiting for a connection
 * behind requests.
 */
export async function announceNode(pool: pg.Pool, node: NodeRow): Promise<void> {
  await pool.query({
    name: 'announce-node',
    text: `insert into nodes (node_id, seen_at, version, started_at)
           select $1, $2, $3, $4 from set_config('synchronous_commit',
             case current_setting('synchronous_commit') when 'off' then 'off' else 'local' end, true)
           on conflict (node_id) do update set seen_at = excluded.seen_at`,
    values: [node.node_id, node.seen_at, node.version, node.started_at],
  });
}

export async function forgetNode(db: Knex, nodeId: string): Promise<void> {
  await db('nodes').where({ node_id: nodeId }).delete();
}

/** Deletes nodes that ended without leaving. @returns how many */
export async function clearLostNodes(db: Knex, lastSeenBefore: Date): Promise<number> {
  return db('nodes').where('seen_at', '<', lastSeenBefore).delete();
}

/** All nodes that have not left, in order of start. */
export async function listNodes(pool: pg.Pool): Promise<NodeRow[]> {
  const { rows } = await pool.query<NodeRow>({
    name: 'list-nodes',
    text: 'select node_id, seen_at, version, started_at from nodes order by node_id',
  });
  return rows;
}

/** Counts the nodes that were seen since a given time, and tests whether this one is among them. */
export async function countNodes(
  pool: pg.Pool,
  nodeId: string,
  since: Date,
): Promise<{ nodes: number; announced: boolean }> {
  const { rows } = await pool.query<{ nodes: number; announced: boolean }>({
    name: 'count-nodes',
    text: `select count(*)::int as nodes, coalesce(bool_or(node_id = $1), false) as announced
           from nodes where seen_at > $2`,
    values: [nodeId, since],
  });
  return rows[0]!;
}
