import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { agentName } from './agent-words.ts';
import { type Agent, revokeAgent, useAccessChanged } from './queries.ts';

interface Props {
  /** The dialog is open while there is an agent. */
  readonly agent: Agent | undefined;
  readonly onClose: () => void;
}

/** Revokes one agent. */
export function RevokeAgentDialog({ agent, onClose }: Props) {
  const changed = useAccessChanged();
  return (
    <ConfirmDialog
      open={agent !== undefined}
      onClose={onClose}
      title={`Revoke ${agent ? agentName(agent) : ''}?`}
      description="All its credentials stop working immediately. Receivers of security events are notified."
      action="Revoke"
      onConfirm={async () => {
        await revokeAgent(agent!.agent_id);
        await changed();
        toast('Agent revoked.');
      }}
    />
  );
}
