import { Badge } from '../../../components/badge.tsx';
import { Card } from '../../../components/card.tsx';
import { formatNumber } from '../../../lib/format.ts';
import styles from './home.module.css';
import type { Installation } from './queries.ts';

type Queue = keyof Installation['queues'];

/** Queues are counted up to this number. */
const COUNTED = 10_000;

/** What is in each queue, and whether it leaves the queue by itself. */
const QUEUES: readonly (readonly [name: Queue, label: string, what: string, isFault: boolean])[] = [
  ['events_set_aside', 'Events set aside', 'They cannot be published. The log names each one.', true],
  ['broker_events_set_aside', 'Broker events set aside', 'The external broker cannot take them.', true],
  ['security_events_set_aside', 'Security events set aside', 'Their receiver cannot be reached.', true],
  ['payment_events_set_aside', 'Payments set aside', 'The test processor cannot process them.', true],
  ['failed_mails', 'Failed mails', 'Not sent in the last 30 days.', true],
  ['events_waiting', 'Events waiting', 'Not published yet.', false],
  ['broker_events_waiting', 'Broker events waiting', 'The external broker does not have them yet.', false],
  ['webhook_deliveries_waiting', 'Webhook deliveries waiting', 'Due, or tried again later.', false],
];

/** What waits, and what is stuck. What is stuck comes first. */
export function Queues({ queues }: Pick<Installation, 'queues'>) {
  const stuck = QUEUES.filter(([name, , , isFault]) => isFault && (queues[name] ?? 0) > 0);
  const others = QUEUES.filter((queue) => !stuck.includes(queue));
  return (
    <Card title="Queues" description="What waits to be processed, and what cannot be.">
      <dl className={styles.queues}>
        {[...stuck, ...others].map(([name, label, what, isFault]) => {
          const count = queues[name];
          return (
            <div key={name} className={styles.queue}>
              <dt>
                {label}
                <span className={styles.what}>{what}</span>
              </dt>
              <dd>
                {count === null ? (
                  <Badge tone="warn">unknown</Badge>
                ) : (
                  <Badge tone={count === 0 ? 'neutral' : isFault ? 'bad' : 'accent'}>
                    {formatNumber(count)}
                    {count >= COUNTED && '+'}
                  </Badge>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
    </Card>
  );
}
