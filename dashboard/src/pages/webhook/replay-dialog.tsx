import { useEffect, useRef, useState } from 'react';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { fromLocalInput, plural, toLocalInput } from '../../lib/format.ts';
import { useWebhooksChanged } from '../webhooks/queries.ts';
import { webhookActions, type WebhookPath } from './queries.ts';

interface Props {
  readonly path: WebhookPath;
  /** The dialog is open while there is a time to begin with. */
  readonly since: string | undefined;
  readonly onClose: () => void;
}

/** Sends the events of a period again. */
export function ReplayDialog({ since, ...props }: Props) {
  return (
    <Dialog
      open={since !== undefined}
      onClose={props.onClose}
      title="Replay events"
      description="Sends every event of a period again that this endpoint receives, also those that it already has."
    >
      {since !== undefined && <ReplayForm {...props} since={since} />}
    </Dialog>
  );
}

function ReplayForm({ path, since, onClose }: Props & { readonly since: string }) {
  const [from, setFrom] = useState(toLocalInput(since));
  const [until, setUntil] = useState('');
  const [sent, setSent] = useState(0);
  const changed = useWebhooksChanged(path.app_id);
  const isLeft = useRef(false);
  useEffect(() => {
    isLeft.current = false;
    return () => void (isLeft.current = true);
  }, []);
  const submit = async () => {
    // One end for all pages.
    const end = fromLocalInput(until) ?? new Date().toISOString();
    const period = { since: fromLocalInput(from)!, until: end };
    let cursor: string | null = null;
    let total = 0;
    do {
      const page: { readonly replayed: number; readonly next_cursor: string | null } = await webhookActions(
        path,
      ).replay({ ...period, ...(cursor && { cursor }) });
      total += page.replayed;
      setSent(total);
      cursor = page.next_cursor;
    } while (cursor !== null && !isLeft.current);
    await changed();
    if (isLeft.current) return;
    toast(total === 0 ? 'There are no events in this period.' : `${plural(total, 'event')} on the way.`);
    onClose();
  };
  return (
    <DialogForm action="Replay" onClose={onClose} onSubmit={submit} onDone={() => {}}>
      <Field
        label="From"
        type="datetime-local"
        required
        value={from}
        hint="Your time zone. Events are kept for 30 days by default."
        onChange={({ target }) => setFrom(target.value)}
      />
      <Field
        label="Until (optional)"
        type="datetime-local"
        value={until}
        hint="Empty means now."
        onChange={({ target }) => setUntil(target.value)}
      />
      {sent > 0 && <p role="status">{plural(sent, 'event')} so far</p>}
    </DialogForm>
  );
}
