import { Card } from '../../../components/card.tsx';
import { KeyState } from './key-state.tsx';
import styles from './signing-keys.module.css';

/** What the states and the actions mean for programs. */
export function Explained() {
  return (
    <Card title="What happens to programs">
      <dl className={styles.explained}>
        <div>
          <dt>
            <KeyState state="pending" />
          </dt>
          <dd>Published, but does not sign yet, so that every client knows the key when it signs.</dd>
        </div>
        <div>
          <dt>
            <KeyState state="signing" />
          </dt>
          <dd>Signs now. There is one for each algorithm.</dd>
        </div>
        <div>
          <dt>
            <KeyState state="retired" />
          </dt>
          <dd>Signs no longer. It stays published until the last access token that it has signed expires.</dd>
        </div>
        <div>
          <dt>Rotate</dt>
          <dd>
            Programs need no change: clients find the new key by its identifier in the published set, and
            nothing that was issued becomes invalid.
          </dd>
        </div>
        <div>
          <dt>Remove</dt>
          <dd>
            For a stolen key. Within a minute, every node rejects what it has signed, so OAuth clients and
            agents need new access tokens. Their refresh tokens stay valid.
          </dd>
        </div>
      </dl>
    </Card>
  );
}
