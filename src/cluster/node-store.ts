import type { Knex } from 'knex';
import type pg from 'pg';

export interface NodeRow {
  readonly node_id: string;
  readonly seen_at: Date;
}

/** Says that a node is alive. */
export async function announceNode(db: Knex, row: NodeRow): Promise<void> {
  await db('nodes').insert(row).onConflict('node_id').merge(['seen_at']);
}

export async function forgetNode(db: Knex, nodeId: string): Promise<void> {
  await db('nodes').where({ node_id: nodeId }).delete();
}

/** Deletes nodes that ended without a word. @returns how many */
export async function clearLostNodes(db: Knex, lastSeenBefore: Date): Promise<number> {
  return db('nodes').where('seen_at', '<', lastSeenBefore).delete();
}

/** How many nodes were seen since a moment, and whether this one is among them. */
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
