import type { Choice } from '../../components/choices.tsx';
import type { Schemas } from '../../api/client.ts';
import styles from './access.module.css';

type OAuthScope = Schemas['OAuthClientScopes'][number];
export type TokenScope = Schemas['ApiTokenScopes'][number];

const EXPLAINED = {
  read: ['Read', 'See applications, users, license keys, files and statistics.'],
  write: ['Write', 'Create, change and delete them.'],
  'auth:dev': ['Manage the account', 'Tokens, secrets, resellers, webhooks, the plan and the audit log.'],
  'agent:register': ['Create agents', 'Create agents that act for you.'],
  'agent:execute': [
    'Use MCP',
    'Call the tools at /mcp. The tools also need Read, and Write to change something.',
  ],
  openid: ['Sign in', 'Know which account it is (OpenID Connect).'],
  profile: ['Profile', 'Know the name of the account.'],
  email: ['Email', 'Know the email address of the account.'],
  offline_access: ['Offline access', 'Keep access with a refresh token while the user is absent.'],
} as const satisfies Readonly<Record<OAuthScope, readonly [label: string, hint: string]>>;

/** Scopes as options, each with its name in the API. */
function choices<Scope extends OAuthScope>(scopes: readonly Scope[]): readonly Choice<Scope>[] {
  return scopes.map((value) => ({
    value,
    label: `${EXPLAINED[value][0]} (${value})`,
    hint: EXPLAINED[value][1],
  }));
}

export const TOKEN_SCOPES = choices(['read', 'write', 'auth:dev', 'agent:register', 'agent:execute']);
export const AGENT_SCOPES = choices(['read', 'write', 'auth:dev', 'agent:execute']);
export const OAUTH_SCOPES = choices(Object.keys(EXPLAINED) as OAuthScope[]);

/** The scopes that something has. */
export function Scopes({ scopes }: { readonly scopes: readonly string[] }) {
  if (scopes.length === 0) return <>—</>;
  return (
    <span className={styles.scopes} title={scopes.join(' ')}>
      {scopes.map((scope) => (
        <code key={scope} className={styles.scope}>
          {scope}
        </code>
      ))}
    </span>
  );
}
