/** What a payer types into the page. */
export interface CardForm {
  readonly name: string;
  readonly number: string;
  /** Month and year: `12 / 30`. */
  readonly expiry: string;
  readonly cvc: string;
}

/** What is wrong with a form, by field, in words for the payer. */
export type CardFaults = Partial<Record<keyof CardForm, string>>;

/** What a test card does. */
export type CardBehavior =
  'pays' | 'declined' | 'authenticates' | 'delayed' | 'delayed_failure' | 'disputed' | 'pays_once';

/** The test cards, which the payment page lists: they are not secret. */
export const TEST_CARDS: readonly {
  readonly number: string;
  readonly does: CardBehavior;
  readonly words: string;
}[] = [
  { number: '4242424242424242', does: 'pays', words: 'Pays' },
  { number: '4000000000000002', does: 'declined', words: 'Is declined' },
  { number: '4000002500003155', does: 'authenticates', words: 'Requires bank approval' },
  { number: '4000000000000077', does: 'delayed', words: 'Pays after 30 seconds' },
  { number: '4000000000000085', does: 'delayed_failure', words: 'Fails after 30 seconds' },
  { number: '4000000000000259', does: 'disputed', words: 'Pays, then is disputed' },
  { number: '4000000000000341', does: 'pays_once', words: 'Pays once, renewals fail' },
];

const LONGEST_NAME = 200;

/**
 * Reads what a payer typed.
 * @returns what the card does, or what is wrong with the form
 */
export function readCard(form: CardForm, now: Date): CardBehavior | CardFaults {
  const faults: CardFaults = {};
  const name = form.name.trim();
  if (name === '') faults.name = 'Enter the name on the card.';
  else if (name.length > LONGEST_NAME) faults.name = `The name has more than ${LONGEST_NAME} characters.`;

  const digits = form.number.replace(/[\s-]/g, '');
  const card = TEST_CARDS.find(({ number }) => number === digits);
  if (digits === '') faults.number = 'Enter the card number.';
  else if (!/^[0-9]{12,19}$/.test(digits) || !isLuhn(digits)) {
    faults.number = 'The card number is not valid. Check the digits.';
  } else if (!card) {
    faults.number = 'Declined: this is not a test card. Real cards do not work here; use one from the list.';
  }

  const expired = expiryFault(form.expiry, now);
  if (expired) faults.expiry = expired;
  if (!/^[0-9]{3,4}$/.test(form.cvc.trim())) faults.cvc = 'Enter the 3 or 4 digits of the security code.';
  return Object.keys(faults).length > 0 ? faults : card!.does;
}

/** A card is valid until the end of its month. */
function expiryFault(text: string, now: Date): string | undefined {
  const [, monthText, yearText] =
    /^\s*([0-9]{1,2})\s*[/-]\s*([0-9]{4}|[0-9]{2})\s*$/.exec(text) ??
    /^\s*([0-9]{2})\s*([0-9]{4}|[0-9]{2})\s*$/.exec(text) ??
    [];
  const month = Number(monthText);
  if (monthText === undefined || month < 1 || month > 12) return 'Enter the month and year as MM / YY.';
  const year = yearText!.length === 2 ? 2000 + Number(yearText) : Number(yearText);
  if (Date.UTC(year, month) <= now.getTime()) return 'The card has expired.';
  if (year > now.getUTCFullYear() + 50) return 'No card is valid for that long.';
  return undefined;
}

/** ISO/IEC 7812-1: the check digit. */
function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits.at(-1 - index));
    const weighed = index % 2 === 0 ? digit : digit * 2;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}
