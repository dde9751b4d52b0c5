import { type ChangeEvent, useState } from 'react';

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface State<Draft> {
  /** What the service had when the form was last compared with it. */
  readonly base: Draft;
  readonly draft: Draft;
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The state with other content, member by member. */
function mapMembers<Draft extends object>(
  { base, draft }: State<Draft>,
  next: Draft,
  isReplaced: (name: keyof Draft) => boolean,
): State<Draft> {
  const names = Object.keys(next) as (keyof Draft)[];
  const replaced = names.filter(isReplaced).map((name) => [name, next[name]]);
  return { base: next, draft: { ...base, ...draft, ...(Object.fromEntries(replaced) as Partial<Draft>) } };
}

/**
 * What a form has so far.
 * @param saved what the form begins with. If it changes later, because someone else has saved something, the members
 *   that the user has not changed follow it, so that saving changes only what the user has changed. A list is one
 *   member
 */
export function useDraft<Draft extends object>(saved: Draft) {
  const [state, setState] = useState<State<Draft>>({ base: saved, draft: saved });
  const { base, draft } = state;
  if (!isSame(base, saved)) setState(mapMembers(state, saved, (name) => isSame(draft[name], base[name])));

  const change = (members: Partial<Draft>) =>
    setState((before) => ({ ...before, draft: { ...before.draft, ...members } }));
  const names = Object.keys(base) as (keyof Draft)[];
  const isChanged = (name: keyof Draft) => !isSame(draft[name], base[name]);
  return {
    draft,
    change,
    /** The value of a text member, and what changes it. */
    text: <Name extends keyof Draft>(name: Draft[Name] extends string ? Name : never) => ({
      value: String(draft[name]),
      onChange: ({ target }: ChangeEvent<Control>) => change({ [name]: target.value } as Partial<Draft>),
    }),
    /** Whether the user has changed a member, or any. */
    isChanged: (name?: keyof Draft) => (name === undefined ? names.some(isChanged) : isChanged(name)),
    /** The members of a request whose namesakes in the draft the user has changed. */
    changesOf: <Body extends { readonly [Name in keyof Draft]?: unknown }>(body: Body) =>
      Object.fromEntries(
        Object.entries(body).filter(([name]) => isChanged(name as keyof Draft)),
      ) as Partial<Body>,
    /** Ends the draft of what was sent: the service may have saved it in another form. */
    accept: (sent: Draft) =>
      setState((before) => mapMembers(before, before.base, (name) => isSame(before.draft[name], sent[name]))),
    /** Ends the draft. */
    discard: () => setState({ base: saved, draft: saved }),
  };
}
