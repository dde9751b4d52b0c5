import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { asProblem } from '../../api/problem.ts';
import { Button } from '../../components/button.tsx';
import { Card, Facts } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { useDraft } from '../../lib/draft.ts';
import { Columns } from '../../shell/page.tsx';
import { userQuery } from '../../shell/user-query.ts';
import { type User, userActions, useUsersChanged } from '../users/queries.ts';
import { Periods } from './periods.tsx';

interface Props {
  readonly appId: string;
  readonly user: User;
}

const PASSWORDS = {
  none: 'Not set',
  set: 'Set',
  imported: 'Imported, replaced at the next login',
} as const;

/** What is known about a user. */
export function Profile({ appId, user }: Props) {
  return (
    <Columns>
      <Card title="Account">
        <Facts
          facts={[
            ...(user.ban
              ? ([
                  ['Banned', <Time key="banned" value={user.ban.created_at} />],
                  ['Reason', user.ban.reason ?? '—'],
                  ['Banned until', <Time key="until" value={user.ban.expires_at} absent="Unbanned" />],
                ] as const)
              : []),
            ['Password', PASSWORDS[user.password_state]],
            ['Machine', user.hwid_bound ? 'Bound' : 'Not bound'],
            ['Machine reset', <Time key="reset" value={user.hwid_reset_at} absent="Never" />],
            ['Created', <Time key="created" value={user.created_at} />],
          ]}
        />
        <ProfileForm appId={appId} user={user} />
      </Card>
      <Periods subscription={user.subscription} />
    </Columns>
  );
}

function ProfileForm({ appId, user }: Props) {
  const { draft, text, isChanged, changesOf, accept } = useDraft({
    email: user.email ?? '',
    role: user.role,
  });
  const changed = useUsersChanged(appId);
  const client = useQueryClient();
  const update = useMutation({
    mutationFn: ({ email, role }: typeof draft) =>
      userActions(appId, user.user_id).update(changesOf({ email: email || null, role })),
    onSuccess: async (saved, sent) => {
      client.setQueryData(userQuery({ app_id: appId, user_id: user.user_id }).queryKey, saved);
      accept(sent);
      await changed();
      toast('User saved.');
    },
  });
  const problem = update.error ? asProblem(update.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    update.mutate(draft);
  };
  return (
    <Form onSubmit={submit}>
      <Field
        label="Email"
        type="email"
        autoComplete="off"
        error={problem?.fieldError('email')}
        {...text('email')}
      />
      <Field
        label="Role"
        required
        maxLength={32}
        hint="Your own label. Logins return it to your program."
        error={problem?.fieldError('role')}
        {...text('role')}
      />
      {update.error && <ErrorState error={update.error} compact />}
      <div>
        <Button type="submit" busy={update.isPending} disabled={!isChanged()}>
          Save
        </Button>
      </div>
    </Form>
  );
}
