import styles from './key-button.module.css';

interface Props {
  readonly licenseKey: string;
  readonly onClick: () => void;
}

/** A license key in a list, which opens its details. */
export function KeyButton({ licenseKey, onClick }: Props) {
  return (
    <button type="button" className={styles.key} title={licenseKey} onClick={onClick}>
      {licenseKey}
    </button>
  );
}
