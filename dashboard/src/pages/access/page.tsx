import { Tabs } from '../../components/tabs.tsx';
import { oneOf } from '../../lib/search.ts';
import { Page } from '../../shell/page.tsx';
import { Agents } from './agents.tsx';
import { Authorizations } from './authorizations.tsx';
import { Clients } from './clients.tsx';
import { Receivers } from './receivers.tsx';
import { accessRoute } from './route.ts';
import { SignIn } from './sign-in.tsx';
import { Tokens } from './tokens.tsx';

const TABS = ['tokens', 'clients', 'authorizations', 'agents', 'receivers', 'sign-in'] as const;

/** Everything that can act for the account. */
export function AccessPage() {
  const { tab } = accessRoute.useSearch();
  const navigate = accessRoute.useNavigate();
  return (
    <Page title="Access" description="Everyone and everything that can act for your account.">
      <Tabs
        label="Access"
        current={oneOf(TABS, tab) ?? 'tokens'}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true, resetScroll: false })}
        tabs={[
          { id: 'tokens', label: 'API tokens', content: <Tokens /> },
          { id: 'clients', label: 'OAuth clients', content: <Clients /> },
          { id: 'authorizations', label: 'Authorizations', content: <Authorizations /> },
          { id: 'agents', label: 'Agents', content: <Agents /> },
          { id: 'receivers', label: 'Security events', content: <Receivers /> },
          { id: 'sign-in', label: 'Sign-in', content: <SignIn /> },
        ]}
      />
    </Page>
  );
}
