import type { FormEvent } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { TextArea } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { type Application, useUpdate } from './queries.ts';

const linesOf = (text: string) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** The files that may run while the executable is checked. */
export function Executables({ application }: { readonly application: Application }) {
  const { draft, text, isChanged, accept } = useDraft({ hashes: application.executable_hashes.join('\n') });
  const update = useUpdate(application.app_id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const hashes = [...new Set(linesOf(draft.hashes))];
    const done = () => {
      accept(draft);
      toast('Executables saved.');
    };
    update.mutate({ executable_hashes: hashes }, { onSuccess: done });
  };
  return (
    <Card
      title="Executables"
      description={
        application.integrity_check
          ? 'Only these files may run.'
          : 'These files may run once “Check the executable” is on.'
      }
    >
      <Form onSubmit={submit}>
        <TextArea
          label="SHA-256 hashes"
          rows={4}
          spellCheck={false}
          placeholder="One hash in hexadecimal on each line"
          error={update.error ? asProblem(update.error).fieldError('executable_hashes') : undefined}
          hint="For example from sha256sum or Get-FileHash. At most 500."
          {...text('hashes')}
        />
        {update.error && <ErrorState error={update.error} compact />}
        <div>
          <Button type="submit" busy={update.isPending} disabled={!isChanged()}>
            Save
          </Button>
        </div>
      </Form>
    </Card>
  );
}
