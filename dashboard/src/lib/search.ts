/** What an address says after its `?`: texts only, so that `q=007` stays `007`. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
}

/** Reads the members that a page knows, and ignores others. */
export function pick<Name extends string>(...names: readonly Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string } => {
    const known: { [Key in Name]?: string } = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') known[name] = value;
    }
    return known;
  };
}

/** A filter of an address that is `true` or `false`. */
export function flagOf(value: string | undefined): boolean | undefined {
  return value === 'true' || value === 'false' ? value === 'true' : undefined;
}

/** The value if it is one of those that the contract knows. An address can contain anything. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  value: string | undefined,
): Value | undefined {
  return values.find((known) => known === value);
}
