import { DialogForm } from '../../components/dialog-form.tsx';
import { Field } from '../../components/field.tsx';
import { useDraft } from '../../lib/draft.ts';
import { EventTypes, type Types } from './event-types.tsx';
import type { Webhook, WebhookBody } from './queries.ts';

interface Props {
  /** The endpoint to change. Without one, the form is for a new one. */
  readonly webhook?: Webhook;
  /** Saves a new endpoint, or what has changed of one. */
  readonly onSave: (body: WebhookBody, changes: Partial<WebhookBody>) => Promise<unknown>;
  readonly onClose: () => void;
}

/** Where events are sent, and which ones. */
export function WebhookForm({ webhook, onSave, onClose }: Props) {
  const { draft, change, text, isChanged, changesOf } = useDraft({
    url: webhook?.url ?? '',
    types: (webhook?.types as Types | undefined) ?? ['*'],
    description: webhook?.description ?? '',
  });
  const body = { url: draft.url, types: [...draft.types], description: draft.description || null };
  return (
    <DialogForm
      action={webhook ? 'Save' : 'Create'}
      onClose={onClose}
      onSubmit={() => onSave(body, changesOf(body))}
      isDisabled={draft.types.length === 0 || (webhook !== undefined && !isChanged())}
    >
      {(errorOf) => (
        <>
          <Field
            label="URL"
            type="url"
            required
            minLength={8}
            maxLength={2048}
            autoComplete="off"
            placeholder="https://example.com/latchkey"
            hint="A public address that responds with 2xx within 15 seconds. Redirects are not followed."
            error={errorOf('url')}
            {...text('url')}
          />
          <Field
            label="Description (optional)"
            maxLength={500}
            autoComplete="off"
            hint="What it is for, such as a Discord bot. Only you see it."
            error={errorOf('description')}
            {...text('description')}
          />
          <EventTypes types={draft.types} onChange={(types) => change({ types })} error={errorOf('types')} />
        </>
      )}
    </DialogForm>
  );
}
