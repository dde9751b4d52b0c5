/** What came as a form: texts, and what holds them. */
export type Form = { readonly [name: string]: Form | string | undefined };

/** Reads `a[b][0][c]=d`, as Stripe takes it. Lists are read as what has the names 0, 1 and so on. */
export function readForm(text: string): Form {
  const form: Record<string, unknown> = {};
  for (const [path, value] of new URLSearchParams(text)) {
    const names = path.split(/[[\]]+/).filter((name) => name !== '');
    let at = form;
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[names.at(-1)!] = value;
  }
  return form as Form;
}

/** What is at a path of a form; undefined when there is nothing. */
export function part(form: Form | undefined, ...path: readonly string[]): Form | undefined {
  let at: Form | string | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  return typeof at === 'object' ? at : undefined;
}

/** The text at a path of a form; undefined if the path is missing. */
export function text(form: Form | undefined, ...path: readonly string[]): string | undefined {
  const found = part(form, ...path.slice(0, -1))?.[path.at(-1)!];
  return typeof found === 'string' ? found : undefined;
}
