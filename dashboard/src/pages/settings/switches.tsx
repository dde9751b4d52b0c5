import { Card } from '../../components/card.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Switch } from '../../components/field.tsx';
import { type Application, useUpdate } from './queries.ts';
import styles from './settings.module.css';

type SwitchName =
  | 'hwid_lock'
  | 'require_subscription'
  | 'pause_sessions'
  | 'integrity_check'
  | 'require_signatures'
  | 'bind_responses'
  | 'secretless_clients'
  | 'require_client_trust'
  | 'block_vpn'
  | 'vpn_fail_closed';

interface Setting {
  readonly name: SwitchName;
  readonly label: string;
  readonly hint: string;
}

/** Every switch of an application, in groups. */
const SWITCHES: readonly { readonly title: string; readonly settings: readonly Setting[] }[] = [
  {
    title: 'Users',
    settings: [
      {
        name: 'hwid_lock',
        label: 'Bind users to one machine',
        hint: 'The first login binds a user to its machine. Logins from others are refused until the machine is reset.',
      },
      {
        name: 'require_subscription',
        label: 'Require a subscription',
        hint: 'Logins and running sessions need time in a tier. Without this, users can log in and have no tier.',
      },
      {
        name: 'pause_sessions',
        label: 'A pause ends sessions, too',
        hint: 'During a pause, running sessions are refused at their next check. Otherwise only new logins are.',
      },
    ],
  },
  {
    title: 'Your program',
    settings: [
      {
        name: 'integrity_check',
        label: 'Check the executable',
        hint: 'At its start, a program must send the SHA-256 of its file, which must be on the list below.',
      },
      {
        name: 'require_signatures',
        label: 'Require signed requests',
        hint:
          'License logins, session checks, logouts and machine resets of version 2 must be signed, as its login ' +
          'always is. Session checks and logouts of version 1, which cannot be signed, are refused.',
      },
      {
        name: 'bind_responses',
        label: 'Bind responses to their requests',
        hint:
          'Responses to unsigned requests also have a signature that covers the request. While this is off, ' +
          'someone with one license key can relay their own responses to programs that check version 1. ' +
          'Turn it on once none does.',
      },
      {
        name: 'secretless_clients',
        label: 'Accept programs without the secret',
        hint: 'Programs can register and log in users and redeem keys without the secret, signed by their device.',
      },
      {
        name: 'require_client_trust',
        label: 'Require client trust',
        hint:
          'Requests must request a signed response, and sessions must be bound to a device. Programs that send the ' +
          'secret are refused. Turn it on once none does.',
      },
    ],
  },
  {
    title: 'Network',
    settings: [
      {
        name: 'block_vpn',
        label: 'Refuse VPNs and proxies',
        hint: 'Programs at known addresses of VPNs, proxies and hosting networks are refused.',
      },
      {
        name: 'vpn_fail_closed',
        label: 'Refuse all addresses without the list',
        hint: 'While the service cannot read the list, all addresses are refused instead of none.',
      },
    ],
  },
];

/** The switches. Each one takes effect at once. */
export function Switches({ application }: { readonly application: Application }) {
  return SWITCHES.map(({ title, settings }) => (
    <Card key={title} title={title}>
      <div className={styles.switches}>
        {settings.map((setting) => (
          <ApplicationSwitch key={setting.name} application={application} setting={setting} />
        ))}
      </div>
    </Card>
  ));
}

function ApplicationSwitch({ application, setting }: { application: Application; setting: Setting }) {
  const { name, label, hint } = setting;
  const update = useUpdate(application.app_id);
  const isOn = update.isPending ? Boolean(update.variables[name]) : application[name];
  return (
    <div className={styles.switch}>
      <Switch
        label={label}
        hint={hint}
        checked={isOn}
        busy={update.isPending}
        disabled={name === 'vpn_fail_closed' && !application.block_vpn}
        onChange={({ target }) => !update.isPending && update.mutate({ [name]: target.checked })}
      />
      {update.error && <ErrorState error={update.error} compact />}
    </div>
  );
}
