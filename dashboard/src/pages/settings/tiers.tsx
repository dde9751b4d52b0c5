import type { FormEvent } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { type Application, useUpdate } from './queries.ts';
import styles from './settings.module.css';

/** The tiers in their order. */
export function Tiers({ application }: { readonly application: Application }) {
  const { draft, change, isChanged, accept } = useDraft({ tiers: application.tiers });
  const { tiers } = draft;
  const setTiers = (next: string[]) => change({ tiers: next });
  const update = useUpdate(application.app_id);
  const rename = (at: number, name: string) => setTiers(tiers.with(at, name));
  const move = (at: number, by: number) =>
    setTiers(tiers.with(at, tiers[at + by]!).with(at + by, tiers[at]!));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const done = () => {
      accept(draft);
      toast('Tiers saved.');
    };
    update.mutate(draft, { onSuccess: done });
  };
  return (
    <Card
      title="Tiers"
      description="Lowest first. A user with time in several tiers uses the highest one first."
    >
      <Form onSubmit={submit}>
        <ol className={styles.tiers}>
          {tiers.map((tier, at) => (
            <li key={at} className={styles.tier}>
              <Field
                bare
                label={`Tier ${at + 1}`}
                required
                maxLength={64}
                value={tier}
                onChange={({ target }) => rename(at, target.value)}
              />
              <IconButton
                label={`Move ${tier} up`}
                icon="up"
                disabled={at === 0}
                onClick={() => move(at, -1)}
              />
              <IconButton
                label={`Move ${tier} down`}
                icon="chevron"
                disabled={at === tiers.length - 1}
                onClick={() => move(at, 1)}
              />
              <IconButton
                label={`Remove ${tier}`}
                icon="close"
                disabled={tiers.length === 1}
                onClick={() => setTiers(tiers.toSpliced(at, 1))}
              />
            </li>
          ))}
        </ol>
        {update.error && <ErrorState error={update.error} compact />}
        <div className={styles.row}>
          <Button icon="plus" disabled={tiers.length >= 50} onClick={() => setTiers([...tiers, ''])}>
            Add a tier
          </Button>
          <Button type="submit" look="primary" busy={update.isPending} disabled={!isChanged()}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
