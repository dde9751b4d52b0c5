import { Badge } from '../../../components/badge.tsx';
import { Card } from '../../../components/card.tsx';
import { SimpleTable } from '../../../components/simple-table.tsx';
import { Time } from '../../../components/time.tsx';
import type { Installation } from './queries.ts';

/** The processes of the service, lost ones first. */
export function Nodes({ nodes }: Pick<Installation, 'nodes'>) {
  const sorted = [...nodes].sort(
    (one, other) => Number(one.state === 'alive') - Number(other.state === 'alive'),
  );
  return (
    <Card
      title="Nodes"
      description="Each process of the service. A node is lost if it was not seen for 15 seconds."
    >
      <SimpleTable
        label="Nodes"
        head={['Node', 'State', 'Version', 'Started', 'Last seen']}
        rows={sorted.map((node) => [
          <code key="id">{node.node_id}</code>,
          <span key="state">
            <Badge tone={node.state === 'alive' ? 'good' : 'bad'}>{node.state}</Badge>{' '}
            {node.is_current && <Badge>this response</Badge>}
          </span>,
          node.version ?? '2.0.0',
          <Time key="started" value={node.started_at} form="relative" />,
          <Time key="seen" value={node.last_seen_at} form="relative" />,
        ])}
      />
    </Card>
  );
}
