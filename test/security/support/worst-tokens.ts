import { repeated, worstShapes, type WorstBody } from './worst-bodies.ts';

const encode = (json: string) => Buffer.from(json).toString('base64url');

/**
 * The worst JWTs of a length.
 * @param issuer their `iss`
 * @param limit in characters
 */
export function worstTokens(issuer: string, limit: number): readonly WorstBody[] {
  const header = encode('{"alg":"ES256","typ":"secevent+jwt","kid":"a"}');
  const inside = Math.floor((limit - header.length - 100) * 0.74);
  const signature = 'A'.repeat(86);
  const shapes = worstShapes(inside - 100);
  return [
    ...['.', 'a', 'a.', 'e30.', '-', '=', ' '].map((piece) => ({
      name: `a token of ${JSON.stringify(piece)}`,
      text: repeated(piece, limit),
    })),
    ...shapes.map(({ name, text }) => ({
      name: `a payload where ${name}`,
      text: `${header}.${encode(`{"iss":${JSON.stringify(issuer)},"events":${text}}`)}.${signature}`,
    })),
    ...shapes.map(({ name, text }) => ({
      name: `a header where ${name}`,
      text: `${encode(`{"alg":"ES256","kid":"a","x":${text}}`)}.e30.${signature}`,
    })),
    {
      name: 'a long signature',
      text: `${header}.${encode(JSON.stringify({ iss: issuer }))}.${'A'.repeat(inside)}`,
    },
  ];
}
