/** The mark of Latchkey. */
export function Logo() {
  return (
    <svg width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#2b59c3" />
      <path d="M16 7a5.5 5.5 0 0 0-2.5 10.4V25h5v-2.5h-2v-2h2v-3.1A5.5 5.5 0 0 0 16 7Z" fill="#fff" />
      <circle cx="16" cy="12.5" r="1.9" fill="#2b59c3" />
    </svg>
  );
}
