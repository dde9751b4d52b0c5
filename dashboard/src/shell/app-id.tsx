import { CopyButton } from '../components/copy-button.tsx';
import styles from './app-id.module.css';

/** The identifier of an application, which programs and requests need. */
export function AppId({ appId }: { readonly appId: string }) {
  return (
    <span className={styles.id}>
      <code>{appId}</code>
      <CopyButton text={appId} what="app_id" />
    </span>
  );
}
