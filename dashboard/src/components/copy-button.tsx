import { useEffect, useState } from 'react';
import { copyText } from '../lib/clipboard.ts';
import { Button, IconButton } from './button.tsx';
import type { IconName } from './icon.tsx';

interface Props {
  readonly text: string;
  /** What is copied, such as `license key`. */
  readonly what: string;
  /** Shows the words next to the icon. */
  readonly labeled?: boolean;
}

type Outcome = 'copied' | 'failed';

const ICONS: Readonly<Record<Outcome, IconName>> = { copied: 'check', failed: 'warning' };
const WORDS: Readonly<Record<Outcome, string>> = {
  copied: 'Copied',
  failed: 'Could not copy. Select the text and copy it',
};
const SHOWN_MS: Readonly<Record<Outcome, number>> = { copied: 1_600, failed: 6_000 };

/** Copies a text, and says for a moment whether it did. */
export function CopyButton({ text, what, labeled }: Props) {
  const [outcome, setOutcome] = useState<Outcome>();
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS[outcome]);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'failed');
  const icon = outcome ? ICONS[outcome] : 'copy';
  const words = outcome ? WORDS[outcome] : `Copy ${what}`;
  return (
    <>
      {labeled ? (
        <Button icon={icon} onClick={() => void copy()}>
          {words}
        </Button>
      ) : (
        <IconButton label={words} icon={icon} onClick={() => void copy()} />
      )}
      {/* Screen readers do not read the new label of the button that has the focus. */}
      <span className="visually-hidden" role="status">
        {outcome && `${WORDS[outcome]}: ${what}`}
      </span>
    </>
  );
}
