/** The prefix of every hash that this service creates: Argon2id, 19 MiB, 2 passes, 1 lane. */
export const OWN_PREFIX = '$argon2id$v=19$m=19456,t=2,p=1$';

/** 128 MiB: the most memory that one login uses. As many logins as there are hashing threads may use it at once. */
const MAX_MEMORY_KIB = 131_072;
const MAX_PASSES = 8;
const MAX_LANES = 8;
/** Memory times passes, which determines the time: about half a second. */
const MAX_WORK_KIB = 524_288;

/** Cost, 16 bytes of salt and 23 bytes of hash; the last character of both encodes fewer than six bits. */
const BCRYPT = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
const ARGON2 =
  /^\$argon2(?:id|i|d)\$v=(?:16|19)\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{16,86})$/;

/**
 * Whether an account has a password: `imported` is a hash of another system, which the next login replaces.
 */
export type PasswordState = 'none' | 'set' | 'imported';

export function passwordState(hash: string | null): PasswordState {
  if (hash === null) return 'none';
  return hash.startsWith(OWN_PREFIX) ? 'set' : 'imported';
}

/**
 * The hash of an account without a password: it has the form of a real one and takes as long to verify, but
 * no password matches it.
 * @param bytes 48 random bytes
 */
export function unusableHash(bytes: Buffer): string {
  const [salt, output] = [bytes.subarray(0, 16), bytes.subarray(16, 48)].map((part) =>
    part.toString('base64').replaceAll('=', ''),
  );
  return `${OWN_PREFIX}${salt}$${output}`;
}

/** Whether a stored hash is a bcrypt hash. */
export function isBcrypt(hash: string): boolean {
  return hash.startsWith('$2');
}

/**
 * Why a hash of another system cannot be imported: its form, or the cost of verifying it.
 * @returns undefined when it can be imported
 */
export function importFault(hash: string): string | undefined {
  if (BCRYPT.test(hash)) return undefined;
  const [, memory, passes, lanes, salt, output] = ARGON2.exec(hash) ?? [];
  if (salt === undefined || !isBase64(salt) || !isBase64(output!)) {
    return 'must be bcrypt ($2a$, $2b$ or $2y$, cost 4 to 14) or Argon2 in PHC form';
  }
  const [m, t, p] = [Number(memory), Number(passes), Number(lanes)];
  const possible = t >= 1 && p >= 1 && m >= 8 * p;
  if (possible && m <= MAX_MEMORY_KIB && t <= MAX_PASSES && p <= MAX_LANES && m * t <= MAX_WORK_KIB) {
    return undefined;
  }
  return (
    `must be Argon2 of at most ${MAX_MEMORY_KIB} KiB, ${MAX_PASSES} passes and ${MAX_LANES} lanes,` +
    ` and memory times passes at most ${MAX_WORK_KIB} KiB`
  );
}

/** Whether a text is base64 without padding that decodes to whole bytes. */
function isBase64(text: string): boolean {
  return (
    Buffer.from(text, 'base64')
      .toString('base64')
      .replace(/={1,2}$/, '') === text
  );
}

/** Whether a password can be chosen, by the rule of the contract for user registration. */
export function canBeChosen(password: string): boolean {
  return /^.{8,128}$/su.test(password);
}
