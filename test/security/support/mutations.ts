const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** JSON in base64url, like the segments of a token. */
export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Other texts for the same or nearly the same bytes as a token, with a name for each. */
export function* respellings(token: string): Generator<[string, string]> {
  yield* [
    ['space before', ` ${token}`],
    ['space after', `${token} `],
    ['line feed after', `${token}\n`],
    ['CRLF after', `${token}\r\n`],
    ['NUL after', `${token}\u0000`],
    ['tab before', `\t${token}`],
    ['padding', `${token}=`],
    ['double padding', `${token}==`],
    ['a dot after', `${token}.`],
    ['a dot before', `.${token}`],
    ['line feed within', `${token.slice(0, 10)}\n${token.slice(10)}`],
    ['line feed in the last segment', `${token.slice(0, -4)}\n${token.slice(-4)}`],
    ['space in the last segment', `${token.slice(0, -4)} ${token.slice(-4)}`],
    ['zero width within', `${token.slice(0, 10)}\u200b${token.slice(10)}`],
    ['byte order mark', `\ufeff${token}`],
    ['upper case', token.toUpperCase()],
    ['lower case', token.toLowerCase()],
    ['standard base64', token.replace(/[-_]/g, (c) => (c === '-' ? '+' : '/'))],
    ['fullwidth', token.replace(/[A-Z]/, (c) => String.fromCharCode(c.charCodeAt(0) + 0xfee0))],
    ['percent-encoded', token.replace(/^./, (c) => `%${c.charCodeAt(0).toString(16)}`)],
    ['Bearer', `Bearer ${token}`],
    ['quoted', `"${token}"`],
    ['twice', token + token],
    ['reversed', [...token].reverse().join('')],
    ['a list', `${token},${token}`],
  ];
  const [, head = '', last = token] = /^(.*\.)?([^.]*)$/s.exec(token) ?? [];
  yield ['standard base64 in the last segment', head + last.replace(/[-_]/g, (c) => (c === '-' ? '+' : '/'))];
  const value = ALPHABET.indexOf(token.at(-1)!);
  for (let bit = 0; bit < 6; bit++)
    yield [`last character, bit ${bit}`, token.slice(0, -1) + ALPHABET[value ^ (1 << bit)]];
}

/** A token with one character changed or left out, at every `step` characters. */
export function* flips(token: string, step: number): Generator<[string, string]> {
  for (let at = 0; at < token.length; at += step) {
    const old = token[at]!;
    const flipped = old === '.' ? '-' : ALPHABET[(ALPHABET.indexOf(old) + 1) % 64]!;
    yield [`character ${at}`, token.slice(0, at) + flipped + token.slice(at + 1)];
    yield [`without character ${at}`, token.slice(0, at) + token.slice(at + 1)];
  }
}

/** Whether a text differs and fits the contract: one that is too long or empty is a 400. */
export const isOther = (token: string, original: string): boolean =>
  token !== original && token.length > 0 && token.length <= 4096;
