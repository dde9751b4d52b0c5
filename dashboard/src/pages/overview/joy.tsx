import styles from './joy.module.css';

const PIECES = 24;

/** Confetti, once, for readers who like motion. It says nothing that the text does not say. */
export function Joy() {
  return (
    <div className={styles.joy} aria-hidden="true">
      {Array.from({ length: PIECES }, (_, piece) => (
        <span key={piece} className={styles.piece} />
      ))}
    </div>
  );
}
