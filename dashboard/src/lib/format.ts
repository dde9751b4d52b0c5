const number = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const minute = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });
const dayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat(undefined, { weekday: 'short', hour: 'numeric' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

export const formatNumber = (value: number): string => number.format(value);
export const formatCompact = (value: number): string => compact.format(value);
export const formatPercent = (value: number): string => percent.format(value);

/** An amount in units of its currency, as every amount of the contract is. @param currency an ISO 4217 code */
export const formatMoney = (value: number, currency: string): string =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(value);

/** A time in the reader's zone. */
export const formatTime = (value: string): string => moment.format(new Date(value));

/** The same time for what happens now: to the second, without the date if it was today. */
export function formatRecent(value: string): string {
  const date = new Date(value);
  const isToday = date.toDateString() === new Date().toDateString();
  return (isToday ? clock : minute).format(date);
}

/** The same time, exactly, for comparing it with logs. */
export const formatUtc = (value: string): string =>
  `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** A day of statistics, which are in UTC. */
export const formatDay = (value: string): string => day.format(new Date(`${value}T00:00:00Z`));

/** A day with its year, for periods in which a day can occur twice. */
export const formatDayOfYear = (value: string): string => dayOfYear.format(new Date(`${value}T00:00:00Z`));

/** An hour of the last days, in the reader's zone. */
export const formatHour = (value: string): string => hour.format(new Date(value));

const UNITS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** How long ago, or how far ahead, a time is. */
export function formatRelative(value: string, now = Date.now()): string {
  const seconds = (Date.parse(value) - now) / 1000;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return Math.abs(seconds) < 60 ? 'now' : relative.format(Math.trunc(seconds / size), unit);
}

/** `1 license`, `2 licenses`. */
export function plural(count: number, singular: string, many = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : many}`;
}

/** A text with a capital letter at its beginning, such as `Active` for the state `active` of the contract. */
export const sentenceCase = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What a license key adds. */
export function formatDuration(days: number | null): string {
  return days === null ? 'Lifetime' : plural(days, 'day');
}

/** A time as `<input type="datetime-local">` gives it, in the reader's zone, as the API takes it. */
export function fromLocalInput(value: string): string | null {
  const time = new Date(value);
  // A year of five digits is one that a browser accepts, and the API does not.
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** The opposite: a time of the API for `<input type="datetime-local">`. */
export function toLocalInput(value: string | null): string {
  if (value === null) return '';
  const date = new Date(value);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
