import styles from './icon.module.css';

/** The outlines of the icons, on a grid of 16. */
const PATHS = {
  overview: 'M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z',
  chart: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
  key: 'M9.7 6.3a3.4 3.4 0 1 0-2.1 2.1L9 9.8h1.6v1.6h1.6V13h1.3v-2.2zM5.6 5.2h.01',
  users:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4' +
    'M10.5 2.8a2.4 2.4 0 0 1 0 4.5M12 9.8c1.6.5 2.5 1.9 2.5 3.7',
  settings:
    'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6' +
    'M10.2 6.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4ZM5.8 13.2a1.7 1.7 0 1 0 0-3.4 1.7 1.7 0 0 0 0 3.4Z',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.2 3.2L13 4.8',
  minus: 'M3.5 8h9',
  plus: 'M8 3v10M3 8h10',
  copy:
    'M5.5 5.5v-2a1 1 0 0 1 1-1h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-2' +
    'M3.5 5.5h6a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1h-6a1 1 0 0 1-1-1v-6a1 1 0 0 1 1-1Z',
  code: 'm5.5 4.5-3.5 3.5 3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  chevron: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  up: 'm4.5 9.5 3.5-3.5 3.5 3.5',
  updown: 'm5 6 3-3 3 3M5 10l3 3 3-3',
  right: 'm6.5 4.5 3.5 3.5-3.5 3.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  warning:
    'M8 6v3.2M8 11.4v.01M7 2.9 1.9 11.8a1.2 1.2 0 0 0 1 1.7h10.2a1.2 1.2 0 0 0 1-1.7L9 2.9a1.2 1.2 0 0 0-2 0Z',
  person: 'M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM3 13.7c.3-2.6 2.3-4 5-4s4.7 1.4 5 4',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.5 13.5h11',
  braces:
    'M6 2.5c-1.6 0-2 .8-2 2v1.6C4 7.1 3.4 8 2.2 8 3.4 8 4 8.9 4 9.9v1.6c0 1.2.4 2 2 2' +
    'M10 2.5c1.6 0 2 .8 2 2v1.6c0 1 .6 1.9 1.8 1.9-1.2 0-1.8.9-1.8 1.9v1.6c0 1.2-.4 2-2 2',
  file: 'M9 2.5H4.5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h7a1 1 0 0 0 1-1V6zM9 2.5V6h3.5',
  webhook:
    'M5.6 7 7 4.6M9.4 5.6l2 3.6M9.7 11.5H5.9M8.3 5a1.9 1.9 0 1 0-.1 0Z' +
    'M4 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6ZM12 13.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6Z',
  upload: 'M8 10V2.7M4.8 5.7 8 2.5l3.2 3.2M2.5 13.5h11',
  send: 'M13.5 2.5 7.2 8.8M13.5 2.5l-4 11-2.3-4.7-4.7-2.3z',
  pulse: 'M1.5 8h3l2-5 3 10 2-5h3',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8z',
  ban: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.8 3.8l8.4 8.4',
  screen: 'M2.5 3h11v7.5h-11zM5.5 13.5h5M8 10.5v3',
  store:
    'M2.5 6.5 3.5 2.5h9l1 4M3.5 7.5v6h9v-6M2.5 6.5a1.8 1.8 0 0 0 3.7 0 1.8 1.8 0 0 0 3.6 0 1.8 1.8 0 0 0 3.7 0',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2M8 10v1.2',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  card: 'M2 3.5h12v9H2zM2 6.5h12M4.5 10h2.5',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  receipt: 'M3.5 2.5h9v11l-1.8-1.2-1.8 1.2-1.8-1.2-1.8 1.2-1.8-1.2zM6 6h4M6 9h4',
  layers: 'M8 2.5 2.5 5.5 8 8.5l5.5-3zM2.5 8 8 11l5.5-3M2.5 10.5l5.5 3 5.5-3',
  share: 'M8 10V2.5M5 5.2l3-2.7 3 2.7M4.5 7.5h-1v6h9v-6h-1',
} as const;

export type IconName = keyof typeof PATHS;

/** A decoration: the text next to it, or the label of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
