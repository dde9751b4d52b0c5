import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { call } from '../api/client.ts';
import { asProblem } from '../api/problem.ts';
import { Button } from '../components/button.tsx';
import { Field } from '../components/field.tsx';
import { Icon } from '../components/icon.tsx';
import { userQuery } from './user-query.ts';
import styles from './user-filter.module.css';

interface Props {
  /** Undefined finds users of all applications. */
  readonly appId: string | undefined;
  readonly userId: string | undefined;
  readonly onChange: (userId: string) => void;
}

/** Limits a list to one user, found by name or identifier. */
export function UserFilter({ appId, userId, onChange }: Props) {
  if (userId !== undefined) return <Chosen appId={appId} userId={userId} onClear={() => onChange('')} />;
  return <Find appId={appId} onFound={onChange} />;
}

function Chosen({
  appId,
  userId,
  onClear,
}: {
  readonly appId: string | undefined;
  readonly userId: string;
  readonly onClear: () => void;
}) {
  const path = { app_id: appId ?? '', user_id: userId };
  const user = useQuery({ ...userQuery(path), enabled: appId !== undefined, retry: false });
  const name = user.data?.username ?? userId;
  return (
    <Button className={styles.chosen} onClick={onClear} title={`${name}: show all users`}>
      <Icon name="person" />
      <bdi className={styles.name}>{name}</bdi>
      <span className="visually-hidden">: show all users</span>
      <Icon name="close" />
    </Button>
  );
}

function Find({
  appId,
  onFound,
}: {
  readonly appId: string | undefined;
  readonly onFound: (userId: string) => void;
}) {
  const [text, setText] = useState('');
  const search = useMutation({
    mutationFn: findUser,
    onSuccess: (userId) => userId !== undefined && onFound(userId),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') search.mutate({ appId, text: text.trim() });
  };
  const error = search.error
    ? asProblem(search.error).message
    : search.isSuccess && search.data === undefined
      ? 'No user has this name.'
      : undefined;
  return (
    <form className={styles.find} onSubmit={submit}>
      <Icon name="search" />
      <Field
        bare
        label="User"
        placeholder="User, then Enter"
        className={styles.text}
        autoComplete="off"
        maxLength={128}
        value={text}
        error={error}
        onChange={({ target }) => {
          setText(target.value);
          search.reset();
        }}
      />
    </form>
  );
}

/** The user whose name is the text; else the first one that the service finds by it. */
async function findUser({ appId, text }: { readonly appId: string | undefined; readonly text: string }) {
  if (text.startsWith('usr_')) return text;
  const found =
    appId === undefined
      ? (await call('GET /api/v2/dev/search', { query: { q: text } })).data
          .filter(({ kind }) => kind === 'user')
          .map(({ id, title }) => ({ id, name: title }))
      : (
          await call('GET /api/v2/dev/apps/{app_id}/users', {
            path: { app_id: appId },
            query: { q: text, limit: 20 },
          })
        ).data.map(({ user_id, username }) => ({ id: user_id, name: username }));
  const exact = found.find(({ name }) => name.toLowerCase() === text.toLowerCase());
  return (exact ?? found[0])?.id;
}
