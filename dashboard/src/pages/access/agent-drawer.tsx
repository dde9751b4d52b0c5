import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Facts } from '../../components/card.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { SimpleTable } from '../../components/simple-table.tsx';
import { Loading } from '../../components/skeleton.tsx';
import { Time } from '../../components/time.tsx';
import type { Schemas } from '../../api/client.ts';
import { useLast } from '../../lib/last.ts';
import { REGISTRATIONS } from './agent-words.ts';
import { agentQuery } from './queries.ts';
import { RevokeAgentDialog } from './revoke-agent-dialog.tsx';
import { Scopes } from './scopes.tsx';

interface Props {
  readonly agentId: string | undefined;
  readonly onClose: () => void;
}

/** The details of an agent, and what its credentials may do. */
export function AgentDrawer({ agentId, onClose }: Props) {
  const shown = useLast(agentId);
  const agent = useQuery({ ...agentQuery(shown ?? ''), enabled: agentId !== undefined });
  return (
    <Dialog kind="drawer" open={agentId !== undefined} onClose={onClose} title="Agent">
      {agent.isLoadingError ? (
        <ErrorState error={agent.error} onRetry={() => void agent.refetch()} />
      ) : agent.data ? (
        <Details agent={agent.data} />
      ) : (
        <Loading what="the agent" />
      )}
    </Dialog>
  );
}

function Details({ agent }: { readonly agent: Schemas['AgentResult'] }) {
  const [isRevoking, setRevoking] = useState(false);
  const { credentials } = agent;
  return (
    <>
      <Facts
        facts={[
          ['Name', agent.name === null ? '—' : <bdi key="name">{agent.name}</bdi>],
          ['Access', REGISTRATIONS[agent.registration_type].long],
          ...(agent.issuer
            ? ([
                ['Issuer', <code key="issuer">{agent.issuer}</code>],
                ['User at the issuer', <code key="subject">{agent.subject ?? '—'}</code>],
                ['Client at the issuer', <code key="client">{agent.client_id ?? '—'}</code>],
              ] as const)
            : []),
          ['Created', <Time key="created" value={agent.created_at} />],
          ['Revoked', <Time key="revoked" value={agent.revoked_at} absent="No" />],
          ['Identifier', <code key="id">{agent.agent_id}</code>],
        ]}
      />
      <h3>What it may do</h3>
      {credentials.length === 0 ? (
        <p>The agent has no valid credential, so it can do nothing.</p>
      ) : (
        <SimpleTable
          label="Credentials"
          head={['Credential', 'Scopes', 'Expires']}
          rows={credentials.map(({ credential_type, scopes, expires_at }) => [
            <code key="type">{credential_type}</code>,
            <Scopes key="scopes" scopes={scopes} />,
            <Time key="expires" value={expires_at} form="relative" />,
          ])}
        />
      )}
      {!agent.revoked_at && (
        <div>
          <Button look="danger" onClick={() => setRevoking(true)}>
            Revoke the agent
          </Button>
        </div>
      )}
      <RevokeAgentDialog agent={isRevoking ? agent : undefined} onClose={() => setRevoking(false)} />
    </>
  );
}
