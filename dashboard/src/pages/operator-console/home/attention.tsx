import { Callout } from '../../../components/callout.tsx';
import { plural } from '../../../lib/format.ts';
import styles from './home.module.css';
import { findingsOf } from './health.ts';
import type { Installation } from './queries.ts';

/** What is not healthy, before everything else. */
export function Attention({ installation }: { readonly installation: Installation }) {
  const findings = findingsOf(installation);
  const faults = findings.filter(({ isFault }) => isFault);
  const remarks = findings.filter(({ isFault }) => !isFault);
  return (
    <div className={styles.attention}>
      {faults.length === 0 ? (
        <Callout tone="good">Everything works: no node is lost, and nothing is set aside.</Callout>
      ) : (
        <Callout tone="bad">
          <Findings title={`${plural(faults.length, 'fault')} to fix`} findings={faults} />
        </Callout>
      )}
      {remarks.length > 0 && (
        <Callout tone="warn">
          <Findings
            title={`${plural(remarks.length, 'setting')} to look at before production`}
            findings={remarks}
          />
        </Callout>
      )}
    </div>
  );
}

function Findings({
  title,
  findings,
}: {
  readonly title: string;
  readonly findings: ReturnType<typeof findingsOf>;
}) {
  return (
    <>
      <h2 className={styles.title}>{title}</h2>
      <ul className={styles.findings}>
        {findings.map(({ code, message }) => (
          <li key={code}>
            <code>{code}</code>
            <span>{message}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
