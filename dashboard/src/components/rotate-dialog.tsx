import { useState } from 'react';
import { ConfirmDialog } from './confirm-dialog.tsx';
import { Select } from './field.tsx';
import { SecretDialog } from './secret-dialog.tsx';

const PERIODS = [
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;

interface Props {
  readonly open: boolean;
  readonly onClose: () => void;
  /** What is replaced, such as `webhook secret`. */
  readonly what: string;
  readonly description: string;
  /** What happens to the previous secret for a while, such as `Accept it`. */
  readonly overlap: string;
  /** The longest while, in seconds. */
  readonly longest: number;
  /** @returns the new secret */
  readonly onRotate: (overlapSeconds: number) => Promise<string>;
}

/** Replaces a secret, and shows the new one once. */
export function RotateDialog({ what, overlap, longest, onRotate, ...dialog }: Props) {
  const [seconds, setSeconds] = useState('86400');
  const [secret, setSecret] = useState<string>();
  const offered = PERIODS.filter(([value]) => Number(value) <= longest);
  return (
    <>
      <ConfirmDialog
        {...dialog}
        title="Rotate the secret?"
        action="Rotate"
        onConfirm={async () => setSecret(await onRotate(Number(seconds)))}
      >
        <Select
          label="The previous secret"
          value={seconds}
          options={[
            ['0', 'End it now'],
            ...offered.map(([value, words]) => [value, `${overlap} for ${words}`] as const),
          ]}
          onChange={({ target }) => setSeconds(target.value)}
        />
      </ConfirmDialog>
      <SecretDialog title="The new secret" what={what} value={secret} onClose={() => setSecret(undefined)} />
    </>
  );
}
