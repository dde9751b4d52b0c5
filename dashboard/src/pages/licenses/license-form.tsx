import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field, TextArea } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { fromLocalInput, toLocalInput } from '../../lib/format.ts';
import styles from './license-drawer.module.css';
import { type License, licenseActions, useLicensesChanged } from './queries.ts';

/** What the developer can change about a license. */
export function LicenseForm({ appId, license }: { readonly appId: string; readonly license: License }) {
  const before = { note: license.note ?? '', redeemBy: toLocalInput(license.redeem_by) };
  const [note, setNote] = useState(before.note);
  const [redeemBy, setRedeemBy] = useState(before.redeemBy);
  const changed = useLicensesChanged(appId);
  const update = useMutation({
    mutationFn: licenseActions(appId, license.license_id).update,
    onSuccess: async () => {
      await changed();
      toast('License saved.');
    },
  });
  const problem = update.error ? asProblem(update.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate({
      ...(note !== before.note && { note: note || null }),
      ...(redeemBy !== before.redeemBy && { redeem_by: fromLocalInput(redeemBy) }),
    });
  };
  return (
    <form className={styles.form} onSubmit={submit}>
      <TextArea
        label="Note"
        value={note}
        maxLength={500}
        error={problem?.fieldError('note')}
        hint="Only you see it."
        onChange={({ target }) => setNote(target.value)}
      />
      {license.status === 'unused' && (
        <Field
          label="Redeem by"
          type="datetime-local"
          value={redeemBy}
          error={problem?.fieldError('redeem_by')}
          hint="Empty means no deadline."
          onChange={({ target }) => setRedeemBy(target.value)}
        />
      )}
      {update.error && <ErrorState error={update.error} compact />}
      <div className={styles.actions}>
        <Button
          type="submit"
          busy={update.isPending}
          disabled={note === before.note && redeemBy === before.redeemBy}
        >
          Save
        </Button>
      </div>
    </form>
  );
}
