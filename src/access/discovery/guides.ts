import { readFile } from 'node:fs/promises';
import type { Addresses } from '../../foundation/addresses/addresses.ts';

/** Texts for agents, with the addresses of this installation. */
export interface Guides {
  readonly auth: string;
  readonly skill: string;
  readonly llms: string;
}

/** Loads the templates. @returns fills them in */
export async function loadGuides(): Promise<(addresses: Addresses, trustsIssuers: boolean) => Guides> {
  const [auth, skill, llms] = await Promise.all(
    ['auth.md', 'skill.md', 'llms.txt.md'].map((name) => readFile(new URL(name, import.meta.url), 'utf8')),
  );
  return (addresses, trustsIssuers) => {
    const fill = (template: string) => fillIn(template, addresses, trustsIssuers);
    return { auth: fill(auth!), skill: fill(skill!), llms: fill(llms!) };
  };
}

/** Replaces the placeholders of addresses. Sections between `issuers` comments remain only if issuers are trusted. */
function fillIn(template: string, addresses: Addresses, trustsIssuers: boolean): string {
  const [start, ...marked] = template.split('<!-- issuers -->\n\n');
  const parts = marked.map((part) => {
    const [issuers, others = ''] = part.split(/<!-- \/issuers -->\n{1,2}/, 2);
    return trustsIssuers ? `${issuers}${others}` : others;
  });
  return [start, ...parts]
    .join('')
    .replaceAll('{base_url}', addresses.issuer())
    .replaceAll('{web_url}', addresses.web());
}
