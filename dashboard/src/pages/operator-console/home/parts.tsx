import { Link } from '@tanstack/react-router';
import { Badge } from '../../../components/badge.tsx';
import { buttonClass } from '../../../components/button.tsx';
import { Card, Facts } from '../../../components/card.tsx';
import { Time } from '../../../components/time.tsx';
import { formatBytes } from '../../../lib/bytes.ts';
import { formatNumber } from '../../../lib/format.ts';
import { KeyState } from '../signing-keys/key-state.tsx';
import type { Installation } from './queries.ts';

const State = ({ state }: { readonly state: 'operational' | 'unavailable' }) => (
  <Badge tone={state === 'operational' ? 'good' : 'bad'}>{state}</Badge>
);

/** Who runs a part of the service. */
const runBy = (isEmbedded: boolean, embedded: string) => (isEmbedded ? embedded : 'external');

const or = <Value,>(value: Value | null, show: (value: Value) => string) =>
  value === null ? '—' : show(value);

export function Database({ database }: Pick<Installation, 'database'>) {
  return (
    <Card title="Database">
      <Facts
        facts={[
          ['State', <State key="state" state={database.state} />],
          ['PostgreSQL', or(database.version, (version) => version)],
          ['Run by', database.embedded ? 'Latchkey itself (embedded)' : 'external server'],
          ['Size', or(database.size_bytes, formatBytes)],
          ['Last migration', database.migration ? <code key="migration">{database.migration}</code> : '—'],
          ['Migrations to run', or(database.pending_migrations, formatNumber)],
          [
            'Waits for a standby',
            or(database.awaits_standby, (awaits) => (awaits ? 'Yes: commits hang' : 'No')),
          ],
          ['Clock difference', `${formatNumber(database.clock_skew_seconds)} s`],
        ]}
      />
    </Card>
  );
}

/** Everything else that the service relies on. */
export function Parts({
  installation: { broker, mail, files, payment_processor },
}: {
  installation: Installation;
}) {
  return (
    <Card title="Connected services">
      <Facts
        facts={[
          [
            'Event broker',
            <span key="broker">
              <State state={broker.state} /> {runBy(broker.embedded, 'none, only the database')}
            </span>,
          ],
          ['Mail', runBy(mail.embedded, 'written to the data folder')],
          ['Files', runBy(files.embedded, 'stored in the data folder')],
          ['Payments', payment_processor === 'test' ? 'test processor, no real money' : payment_processor],
        ]}
      />
    </Card>
  );
}

export function Keys({ keys }: { readonly keys: Installation['signing_keys'] }) {
  return (
    <Card
      title="Signing keys"
      actions={
        <Link to="/admin/signing-keys" className={buttonClass()}>
          Manage
        </Link>
      }
    >
      <Facts
        facts={keys.map(({ key_id: id, alg, state, active_from: from }) => [
          `${alg} ${id.slice(0, 8)}`,
          <span key={id}>
            <KeyState state={state} /> since <Time value={from} />
          </span>,
        ])}
      />
    </Card>
  );
}
