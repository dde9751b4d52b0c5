/** What every hash begins with that is made here: Argon2id, 19 MiB, 2 passes, 1 lane. */
export const OWN_PREFIX = '$argon2id$v=19$m=19456,t=2,p=1$';

/** 128 MiB: a login of the most expensive hash takes this once, and as many run at once as there are threads for it. */
const MAX_MEMORY_KIB = 131_072;
const MAX_PASSES = 8;
const MAX_LANES = 8;
/** Memory times passes is what the time goes with: about half a second. */
const MAX_WORK_KIB = 524_288;

/** Cost, then 16 bytes of salt and 23 of the hash; the last character of each holds fewer bits than six. */
const BCRYPT = /^\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;
const ARGON2 =
  /^\$argon2(?:id|i|d)\$v=(?:16|19)\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{16,86})$/;

/** Whether a password can log in with a hash: `imported` are those that the next login replaces. */
export type PasswordState = 'none' | 'set' | 'imported';

export function passwordState(hash: string | null): PasswordState {
  if (hash === null) return 'none';
  return hash.startsWith(OWN_PREFIX) ? 'set' : 'imported';
}

/**
 * What stands where there is no password: the form of a hash of ours, which takes as long to check and is that of nothing
 * anybody knows.
 * @param bytes 48 unpredictable ones
 */
export function unusableHash(bytes: Buffer): string {
  const [salt, output] = [bytes.subarray(0, 16), bytes.subarray(16, 48)].map((part) =>
    part.toString('base64').replaceAll('=', ''),
  );
  return `${OWN_PREFIX}${salt}$${output}`;
}

/** Whether a stored hash is one of bcrypt. */
export function isBcrypt(hash: string): boolean {
  return hash.startsWith('$2');
}

/**
 * What keeps a hash of another system from being taken over: its form, or that checking it would cost too much.
 * @returns undefined when it can be taken over
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
  return `must be Argon2 of at most ${MAX_MEMORY_KIB} KiB, ${MAX_PASSES} passes and ${MAX_LANES} lanes, and memory times passes at most ${MAX_WORK_KIB} KiB`;
}

/** Whether it is base64 without padding that decodes to whole bytes. */
function isBase64(text: string): boolean {
  return (
    Buffer.from(text, 'base64')
      .toString('base64')
      .replace(/={1,2}$/, '') === text
  );
}

/** Whether a password can be chosen: as the contract has it for whoever registers by himself. */
export function canBeChosen(password: string): boolean {
  return /^.{8,128}$/su.test(password);
}
