import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Application, useUpdate } from './queries.ts';
import styles from './settings.module.css';

type StatusCode = Application['status_code'];

const STATUSES: Readonly<
  Record<
    StatusCode,
    { readonly tone: 'good' | 'warn' | 'bad'; readonly action: string; readonly text: string }
  >
> = {
  active: { tone: 'good', action: 'Activate', text: 'Users can register and log in.' },
  paused: {
    tone: 'warn',
    action: 'Pause',
    text: 'New logins are refused, and the time of subscriptions stands still until you activate it again.',
  },
  disabled: {
    tone: 'bad',
    action: 'Disable',
    text: 'Everything that programs request is refused, except logouts. Subscriptions run down.',
  },
};

/** Whether the application runs. */
export function Status({ application }: { readonly application: Application }) {
  const [wanted, setWanted] = useState<StatusCode>();
  const update = useUpdate(application.app_id);
  const current = application.status_code;
  const others = (Object.keys(STATUSES) as StatusCode[]).filter((status) => status !== current);
  return (
    <Card title="Status" description={STATUSES[current].text}>
      <div className={styles.row}>
        <Badge tone={STATUSES[current].tone}>{current}</Badge>
      </div>
      <div className={styles.row}>
        {others.map((status) => (
          <Button key={status} onClick={() => setWanted(status)}>
            {STATUSES[status].action}
          </Button>
        ))}
      </div>
      <ConfirmDialog
        open={wanted !== undefined}
        onClose={() => setWanted(undefined)}
        title={`${STATUSES[wanted ?? current].action} ${application.name}?`}
        description={STATUSES[wanted ?? current].text}
        action={STATUSES[wanted ?? current].action}
        isDangerous={wanted !== 'active'}
        onConfirm={() => update.mutateAsync({ status: wanted! })}
      />
    </Card>
  );
}
