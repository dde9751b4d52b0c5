import { repeated, type WorstBody } from './worst-bodies.ts';

/** Repeated in the fields of forms. Each is the worst case of some decoding, pattern or split. */
const PIECES = ['a', '+', '%41', '%20', '%EF%B7%BA', '%CC%81', '@.', '.', '-', '%25', '%22', '%0A', 'a%20'];

/** The worst forms for a route. @param fields that it reads @param limit in bytes */
export function worstForms(
  fields: readonly string[],
  values: Readonly<Record<string, string>>,
  limit: number,
): readonly WorstBody[] {
  const form = (changes: Readonly<Record<string, string>>) =>
    Object.entries({ ...values, ...changes })
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
  const space = limit - form({}).length - 50;
  return [
    { name: 'separators', text: '&'.repeat(limit) },
    { name: 'equals signs', text: '='.repeat(limit) },
    { name: 'percent signs', text: '%'.repeat(limit) },
    { name: 'a name of escapes', text: `${repeated('%41', limit - 2)}=a` },
    { name: 'as many fields as fit', text: numbered(limit) },
    { name: 'a repeatable field', text: `${form({})}&${repeated('resource=a&', space)}` },
    ...fields.flatMap((field) =>
      PIECES.map((piece) => ({
        name: `${field} of ${piece}`,
        text: form({ [field]: repeated(piece, space) }),
      })),
    ),
  ];
}

function numbered(limit: number): string {
  let text = '';
  for (let index = 0; text.length < limit - 10; index += 1) text += `f${index}=&`;
  return text;
}
