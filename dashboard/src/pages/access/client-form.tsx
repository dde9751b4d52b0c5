import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Choices } from '../../components/choices.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { LinesField, linesOf } from '../../components/lines-field.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { clientActions, clientQuery, type OAuthClient, useAccessChanged } from './queries.ts';
import { OAUTH_SCOPES } from './scopes.tsx';

const draftOf = ({ name, redirect_uris, post_logout_redirect_uris, scopes }: OAuthClient) => ({
  name,
  redirect_uris: redirect_uris.join('\n'),
  post_logout_redirect_uris: post_logout_redirect_uris.join('\n'),
  scopes,
});

/** What can be changed about a client. */
export function ClientForm({ client }: { readonly client: OAuthClient }) {
  const { draft, change, text, isChanged, changesOf, accept } = useDraft(draftOf(client));
  const changed = useAccessChanged();
  const cache = useQueryClient();
  const saving = useMutation({
    mutationFn: (wanted: typeof draft) =>
      clientActions(client.client_id).update(
        changesOf({
          name: wanted.name,
          redirect_uris: linesOf(wanted.redirect_uris),
          post_logout_redirect_uris: linesOf(wanted.post_logout_redirect_uris),
          scopes: wanted.scopes,
        }),
      ),
    onSuccess: async (saved, sent) => {
      cache.setQueryData(clientQuery(client.client_id).queryKey, saved);
      accept(sent);
      await changed();
      toast('Client saved.');
    },
  });
  const problem = saving.error ? asProblem(saving.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(draft);
  };
  const hasPages = client.grant_types.includes('authorization_code');
  return (
    <Form onSubmit={submit}>
      <Field
        label="Name"
        required
        maxLength={100}
        autoComplete="off"
        error={problem?.fieldError('name')}
        {...text('name')}
      />
      {hasPages && (
        <>
          <LinesField
            label="Redirect URIs"
            required
            hint="One on each line. The service no longer redirects to those that you remove."
            error={problem?.fieldError('redirect_uris')}
            value={draft.redirect_uris}
            onChange={(redirect_uris) => change({ redirect_uris })}
          />
          <LinesField
            label="Sign-out redirect URIs (optional)"
            error={problem?.fieldError('post_logout_redirect_uris')}
            value={draft.post_logout_redirect_uris}
            onChange={(post_logout_redirect_uris) => change({ post_logout_redirect_uris })}
          />
        </>
      )}
      <Choices
        label="Scopes that it can request"
        hint="Existing tokens keep their scopes until they end."
        options={OAUTH_SCOPES}
        chosen={draft.scopes}
        error={problem?.fieldError('scopes')}
        onChange={(scopes) => change({ scopes: [...scopes] })}
      />
      {saving.error && <ErrorState error={saving.error} compact />}
      <div>
        <Button
          type="submit"
          look="primary"
          busy={saving.isPending}
          disabled={!isChanged() || draft.scopes.length === 0}
        >
          Save
        </Button>
      </div>
    </Form>
  );
}
