import { useState } from 'react';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { type Column, DataTable } from '../../components/data-table/data-table.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { NameButton } from '../../components/name.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Time, TIME_WIDTHS } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { plural } from '../../lib/format.ts';
import { AgentDrawer } from './agent-drawer.tsx';
import { agentName, REGISTRATIONS } from './agent-words.ts';
import { useChangeSearch } from '../../lib/change-search.ts';
import { CreateAgentDialog } from './create-agent-dialog.tsx';
import { type Agent, revokeAllAgents, useAccessChanged, useAgents } from './queries.ts';
import { RevokeAgentDialog } from './revoke-agent-dialog.tsx';
import { accessRoute } from './route.ts';
import { Section } from '../../shell/section.tsx';

const columns = (
  open: (agentId: string) => void,
  revoke: (agent: Agent) => void,
): readonly Column<Agent>[] => [
  {
    id: 'name',
    header: 'Agent',
    cell: (agent) => <NameButton onClick={() => open(agent.agent_id)}>{agentName(agent)}</NameButton>,
  },
  {
    id: 'registration',
    header: 'How it got access',
    width: '14rem',
    from: 'tablet',
    cell: ({ registration_type }) => REGISTRATIONS[registration_type].short,
  },
  {
    id: 'state',
    header: 'State',
    width: '6.5rem',
    cell: ({ revoked_at }) =>
      revoked_at ? <Badge tone="bad">revoked</Badge> : <Badge tone="good">active</Badge>,
  },
  {
    id: 'created',
    header: 'Created',
    width: TIME_WIDTHS.relative,
    from: 'tablet',
    cell: ({ created_at }) => <Time value={created_at} form="relative" />,
  },
  {
    id: 'actions',
    header: 'Revoke',
    width: '4.5rem',
    cell: (agent) =>
      !agent.revoked_at && (
        <IconButton label={`Revoke ${agentName(agent)}`} icon="close" onClick={() => revoke(agent)} />
      ),
  },
];

/** Programs that act by themselves. */
export function Agents() {
  const { create, agent } = accessRoute.useSearch();
  const change = useChangeSearch(accessRoute);
  const list = useAgents();
  const changed = useAccessChanged();
  const [secret, setSecret] = useState<string>();
  const [revoked, setRevoked] = useState<Agent>();
  const [isRevokingAll, setRevokingAll] = useState(false);
  const button = (
    <Button look="primary" icon="plus" onClick={() => change({ create: 'yes' })}>
      Create agent
    </Button>
  );
  const hasActive = list.items.some(({ revoked_at }) => revoked_at === null);
  return (
    <Section
      description={
        'AI agents and other programs that act by themselves: those that you create here, and ' +
        'those that registered and that you then claimed. Revoked agents stay here for 30 days.'
      }
      actions={
        list.items.length > 0 && (
          <>
            {hasActive && <Button onClick={() => setRevokingAll(true)}>Revoke all</Button>}
            {button}
          </>
        )
      }
    >
      <DataTable
        label="agents"
        list={list}
        columns={columns((id) => change({ agent: id }), setRevoked)}
        idOf={({ agent_id }) => agent_id}
        nameOf={agentName}
        currentId={agent}
        empty={
          <EmptyState icon="person" title="No agents" action={button}>
            An agent registers itself as /auth.md describes, and appears here when you claim it with the code
            from its email. Or create one here and give it the credential.
          </EmptyState>
        }
      />
      <CreateAgentDialog
        open={create !== undefined}
        onClose={() => change({ create: '' })}
        onCreated={setSecret}
      />
      <AgentDrawer agentId={agent} onClose={() => change({ agent: '' })} />
      <SecretDialog
        title="The agent's credential"
        what="credential"
        value={secret}
        onClose={() => setSecret(undefined)}
      >
        <p>
          The agent sends it in the header <code>Authorization: Bearer …</code>.
        </p>
      </SecretDialog>
      <RevokeAgentDialog agent={revoked} onClose={() => setRevoked(undefined)} />
      <ConfirmDialog
        open={isRevokingAll}
        onClose={() => setRevokingAll(false)}
        title="Revoke all agents?"
        description={
          'For an emergency: the credentials of all your agents stop working immediately. This ' +
          'cannot be undone.'
        }
        action="Revoke all"
        typed="revoke"
        onConfirm={async () => {
          const result = await revokeAllAgents();
          await changed();
          toast(`${plural(result.revoked, 'agent')} revoked.`);
        }}
      />
    </Section>
  );
}
