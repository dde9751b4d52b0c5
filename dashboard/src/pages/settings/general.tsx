import type { FormEvent } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { type Application, useUpdate } from './queries.ts';
import styles from './settings.module.css';

/** The name, the version and the limit of sessions. */
export function General({ application }: { readonly application: Application }) {
  const { draft, text, isChanged, changesOf, accept } = useDraft({
    name: application.name,
    minimum_version: application.minimum_version ?? '',
    download_url: application.download_url ?? '',
    max_sessions: String(application.max_sessions),
  });
  const update = useUpdate(application.app_id);
  const problem = update.error ? asProblem(update.error) : undefined;
  const field = (name: keyof typeof draft) => ({ error: problem?.fieldError(name), ...text(name) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const changes = changesOf({
      name: draft.name,
      minimum_version: draft.minimum_version || null,
      download_url: draft.download_url || null,
      max_sessions: Number(draft.max_sessions),
    });
    const done = () => {
      accept(draft);
      toast('Settings saved.');
    };
    update.mutate(changes, { onSuccess: done });
  };
  return (
    <Card title="General">
      <Form onSubmit={submit}>
        <div className={styles.pair}>
          <Field label="Name" required maxLength={100} hint="Your users see it." {...field('name')} />
          <Field
            label="Live sessions per user"
            type="number"
            required
            min={1}
            max={1000}
            hint="A login over this limit ends the oldest session."
            {...field('max_sessions')}
          />
        </div>
        <div className={styles.pair}>
          <Field
            label="Minimum version"
            maxLength={64}
            placeholder="1.4.0"
            hint="Lower versions must update before they can continue."
            {...field('minimum_version')}
          />
          <Field
            label="Download URL"
            type="url"
            maxLength={2048}
            placeholder="https://example.com/download"
            hint="Where programs get the update."
            {...field('download_url')}
          />
        </div>
        {update.error && <ErrorState error={update.error} compact />}
        <div>
          <Button type="submit" look="primary" busy={update.isPending} disabled={!isChanged()}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
