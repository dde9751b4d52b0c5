import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { BASE } from '../../../api/base.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { SimpleTable } from '../../../components/simple-table.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Time } from '../../../components/time.tsx';
import { toast } from '../../../components/toast.tsx';
import { Page, Stack } from '../../../shell/page.tsx';
import { Explained } from './explained.tsx';
import { KeyState } from './key-state.tsx';
import { remove, rotate, type SigningKey, signingKeysQuery, useSigningKeysChanged } from './queries.ts';

/** The keys that sign access tokens. */
export function SigningKeysPage() {
  const keys = useQuery(signingKeysQuery);
  const changed = useSigningKeysChanged();
  const [isRotating, setIsRotating] = useState(false);
  const [removed, setRemoved] = useState<SigningKey>();
  return (
    <Page
      title="Signing keys"
      description="They sign the access tokens of OAuth clients and agents. They rotate by themselves every 90 days."
      actions={
        <Button look="primary" onClick={() => setIsRotating(true)}>
          Rotate now
        </Button>
      }
    >
      <Stack>
        <Card
          title="Published keys"
          description={
            <>
              Clients read them at{' '}
              <a href={`${BASE}/.well-known/jwks.json`} target="_blank" rel="noreferrer">
                /.well-known/jwks.json
              </a>
              .
            </>
          }
        >
          {keys.isLoadingError ? (
            <ErrorState error={keys.error} onRetry={() => void keys.refetch()} />
          ) : keys.data ? (
            <SimpleTable
              label="Signing keys"
              head={['Key', 'Algorithm', 'State', 'Signs from', 'Created', 'Action']}
              rows={keys.data.data.map((key) => [
                <code key="id">{key.key_id}</code>,
                key.alg,
                <KeyState key="state" state={key.state} />,
                <Time key="from" value={key.active_from} />,
                <Time key="created" value={key.created_at} form="relative" />,
                <Button key="remove" look="quiet" onClick={() => setRemoved(key)}>
                  Remove<span className="visually-hidden"> {key.key_id}</span>
                </Button>,
              ])}
            />
          ) : (
            <Loading what="the keys" />
          )}
        </Card>
        <Explained />
      </Stack>
      <ConfirmDialog
        open={isRotating}
        onClose={() => setIsRotating(false)}
        title="Rotate the signing keys?"
        description={
          'A new key for each algorithm is published now and signs in ten minutes. Nothing that was issued becomes ' +
          'invalid, and the old keys stay published until their last signature expires.'
        }
        action="Rotate"
        isDangerous={false}
        onConfirm={async () => {
          await rotate();
          await changed();
          toast('New keys are published. They sign in ten minutes.');
        }}
      />
      <ConfirmDialog
        open={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title="Remove this signing key?"
        description={
          'Only for a key that was stolen. Within a minute, every node rejects everything that it has signed: agents ' +
          'and OAuth clients need new access tokens. If it signs now, another key replaces it. This cannot be undone.'
        }
        action="Remove key"
        typed={removed?.key_id.slice(0, 8) ?? ''}
        onConfirm={async () => {
          await remove(removed!.key_id);
          await changed();
          toast('The key is removed.');
        }}
      />
    </Page>
  );
}
