import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Field, Select } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { fromLocalInput } from '../../lib/format.ts';
import { createBan, useBansChanged } from './queries.ts';

interface Props {
  readonly appId: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

/** How the ban names what it is about. A machine is named in two ways. */
type Way = 'user' | 'machine-of-user' | 'machine' | 'network';

const WAYS: readonly (readonly [Way, string])[] = [
  ['user', 'A user'],
  ['machine-of-user', 'The machine of a user'],
  ['machine', 'A machine'],
  ['network', 'An address or a network'],
];

const EFFECTS: Readonly<Record<Way, string>> = {
  user: "The user's sessions end, and the user can no longer log in or redeem keys.",
  'machine-of-user': 'No user can log in or register on the machine that this user is bound to.',
  machine: 'No user can log in or register on the machine.',
  network: 'No user can log in or register from these addresses.',
};

/** Bans a user, a machine or a network. */
export function CreateBanDialog({ open, ...props }: Props) {
  return (
    <Dialog
      open={open}
      onClose={props.onClose}
      title="Create a ban"
      description="It is in force at once, and you can lift it at any time."
    >
      <BanForm {...props} />
    </Dialog>
  );
}

function BanForm({ appId, onClose }: Omit<Props, 'open'>) {
  const [way, setWay] = useState<Way>('user');
  const [name, setName] = useState('');
  const [reason, setReason] = useState('');
  const [until, setUntil] = useState('');
  const changed = useBansChanged(appId);
  const choose = (next: Way) => {
    setWay(next);
    // A name stays between the two ways that need one.
    if (!(NEEDS_USER.includes(way) && NEEDS_USER.includes(next))) setName('');
  };
  return (
    <DialogForm
      action="Ban"
      isDangerous
      onClose={onClose}
      onSubmit={async () => {
        await createBan(appId, {
          ...targetOf(way, name.trim()),
          ...(reason && { reason }),
          ...(until && { expires_at: fromLocalInput(until) }),
        });
        await changed();
        toast('Ban created.');
      }}
    >
      {(errorOf) => (
        <>
          <Select
            label="What to ban"
            value={way}
            options={WAYS}
            hint={EFFECTS[way]}
            onChange={({ target }) => choose(target.value as Way)}
          />
          <TargetField way={way} value={name} errorOf={errorOf} onChange={setName} />
          <Field
            label="Reason (optional)"
            value={reason}
            maxLength={500}
            hint="Only you see it."
            error={errorOf('reason')}
            onChange={({ target }) => setReason(target.value)}
          />
          <Field
            label="Until (optional)"
            type="datetime-local"
            value={until}
            hint="Empty means until you lift the ban."
            error={errorOf('expires_at')}
            onChange={({ target }) => setUntil(target.value)}
          />
        </>
      )}
    </DialogForm>
  );
}

const NEEDS_USER: readonly Way[] = ['user', 'machine-of-user'];

interface TargetProps {
  readonly way: Way;
  readonly value: string;
  readonly errorOf: (name: string) => string | undefined;
  readonly onChange: (value: string) => void;
}

function TargetField({ way, value, errorOf, onChange }: TargetProps) {
  const common = {
    required: true,
    autoComplete: 'off',
    value,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  if (way === 'network') {
    return (
      <Field
        {...common}
        label="Address or network"
        minLength={2}
        maxLength={49}
        placeholder="203.0.113.0/24"
        hint="An IPv4 or IPv6 address, or a network in CIDR form."
        error={errorOf('network')}
      />
    );
  }
  if (way === 'machine') {
    return (
      <Field
        {...common}
        label="Machine identifier"
        maxLength={256}
        hint="The hwid that your program sends when a user logs in."
        error={errorOf('hwid')}
      />
    );
  }
  return <Field {...common} label="User name" maxLength={128} error={errorOf('username')} />;
}

function targetOf(way: Way, name: string): Schemas['CreateBanRequest'] {
  if (way === 'network') return { kind: 'network', network: name };
  if (way === 'machine') return { kind: 'hardware', hwid: name };
  return { kind: way === 'user' ? 'user' : 'hardware', username: name };
}
