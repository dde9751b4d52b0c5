/** The path of the service in front of all of its addresses, such as `/licensing`; empty without one. */
export const BASE = document.querySelector<HTMLMetaElement>('meta[name="latchkey-base"]')?.content ?? '';

/** Where the dashboard is. */
export const DASHBOARD = `${BASE}/dashboard`;
