import { sentRequests, toCurl } from '../api/request-log.ts';
import { CodeBlock } from '../components/code-block.tsx';
import { Dialog } from '../components/dialog.tsx';
import { useStore } from '../lib/store.ts';
import styles from './curl-dialog.module.css';
import { useFrame } from './frame.ts';

/** The requests of the open page, as commands that do the same in a terminal. */
export default function CurlDialog({ onClose }: { readonly onClose: () => void }) {
  const requests = useStore(sentRequests);
  const { tokenName } = useFrame();
  return (
    <Dialog
      kind="wide"
      open
      onClose={onClose}
      title="This page as curl"
      description={`Everything here is the public API. Replace YOUR_API_TOKEN with ${tokenName}.`}
    >
      {requests.length === 0 && <p>This page has sent no requests.</p>}
      <ul className={styles.requests}>
        {requests.map((request) => (
          <li key={`${request.method} ${request.path}`}>
            <CodeBlock text={toCurl(request)} what={`${request.method} command`} />
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
