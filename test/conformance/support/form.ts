/** A parsed form: texts, and objects of them. */
export type Form = { readonly [name: string]: Form | string | undefined };

/** Parses `a[b][0][c]=d`, the format of Stripe. Lists become objects with the members 0, 1 and so on. */
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

/** The value at a path of a form, or undefined. */
export function part(form: Form | undefined, ...path: readonly string[]): Form | undefined {
  let at: Form | string | undefined = form;
  for (const name of path) at = typeof at === 'object' ? at[name] : undefined;
  return typeof at === 'object' ? at : undefined;
}

/** The text at a path of a form, or undefined. */
export function text(form: Form | undefined, ...path: readonly string[]): string | undefined {
  const found = part(form, ...path.slice(0, -1))?.[path.at(-1)!];
  return typeof found === 'string' ? found : undefined;
}
