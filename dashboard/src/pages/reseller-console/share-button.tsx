import { Button } from '../../components/button.tsx';

interface Props {
  readonly title: string;
  readonly text: string;
}

/** Hands a text to another application of the phone. Absent where the browser cannot. */
export function ShareButton({ title, text }: Props) {
  if (!('share' in navigator)) return null;
  // A rejection means that the user has closed the window of the system.
  const share = () => void navigator.share({ title, text }).catch(() => undefined);
  return (
    <Button look="primary" icon="share" onClick={share}>
      Share
    </Button>
  );
}
