import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { Callout } from '../../../components/callout.tsx';
import { Card, Facts } from '../../../components/card.tsx';
import { ErrorState } from '../../../components/error-state.tsx';
import { Loading } from '../../../components/skeleton.tsx';
import { Time } from '../../../components/time.tsx';
import { plural } from '../../../lib/format.ts';
import { Columns, Page, Stack } from '../../../shell/page.tsx';
import { type Account, accountQuery } from './queries.ts';
import { developerAccountRoute } from './route.ts';
import { SuspendDialog } from './suspend-dialog.tsx';
import { ReinstateDialog } from './reinstate-dialog.tsx';
import { Quotas } from './quotas.tsx';

/** One developer: plan, usage, subscription, and the suspension. */
export function DeveloperPage() {
  const { developerId } = developerAccountRoute.useParams();
  const account = useQuery(accountQuery(developerId));
  if (account.isLoadingError)
    return <ErrorState error={account.error} onRetry={() => void account.refetch()} />;
  if (!account.data) return <Loading what="the developer" lines={8} />;
  return <Details key={developerId} account={account.data} />;
}

function Details({ account }: { readonly account: Account }) {
  const [open, setOpen] = useState<'none' | 'suspend' | 'reinstate'>('none');
  const close = () => setOpen('none');
  const isSuspended = account.account_status === 'suspended';
  return (
    <Page
      title={
        <>
          <bdi>{account.email}</bdi> {isSuspended && <Badge tone="bad">suspended</Badge>}
        </>
      }
      description={<code>{account.developer_id}</code>}
      actions={
        isSuspended ? (
          <>
            <Button onClick={() => setOpen('suspend')}>Change the suspension</Button>
            <Button look="primary" onClick={() => setOpen('reinstate')}>
              Reinstate
            </Button>
          </>
        ) : (
          <Button onClick={() => setOpen('suspend')}>Suspend</Button>
        )
      }
    >
      <Stack>
        {isSuspended && <Suspension account={account} />}
        <Columns>
          <Quotas account={account} />
          <Subscription account={account} />
        </Columns>
        <Identity account={account} />
      </Stack>
      {/* Another status is another question, with empty fields. */}
      <SuspendDialog
        key={account.account_status}
        account={account}
        open={open === 'suspend'}
        onClose={close}
      />
      <ReinstateDialog account={account} open={open === 'reinstate'} onClose={close} />
    </Page>
  );
}

function Suspension({ account }: { readonly account: Account }) {
  const { suspended_at: since, suspension_reason: reason, applications_disabled: disabled } = account;
  return (
    <Callout tone="bad">
      Suspended since <Time value={since} />.{' '}
      {reason ? (
        <>
          Reason: <bdi>{reason}</bdi>.{' '}
        </>
      ) : (
        'No reason was given. '
      )}
      {disabled > 0
        ? `${plural(disabled, 'application')} disabled with it: their programs do not work.`
        : 'Programs of end users keep working.'}
    </Callout>
  );
}

function Subscription({ account }: { readonly account: Account }) {
  const { plan, subscription, grace_ends_at: grace } = account;
  return (
    <Card title="Plan">
      {subscription?.state === 'past_due' && (
        <Callout tone="warn">A renewal could not be collected. The payment processor tries again.</Callout>
      )}
      {grace && (
        <Callout tone="warn">
          The paid plan has ended. Logins of applications above the free plan work until{' '}
          <Time value={grace} />.
        </Callout>
      )}
      <Facts
        facts={[
          ['Plan', <bdi key="plan">{plan.name}</bdi>],
          ...(subscription
            ? ([
                ['Billed', subscription.period],
                ['State', subscription.state === 'active' ? 'active' : 'past due'],
                [
                  subscription.cancel_at_period_end ? 'Ends' : 'Renews',
                  <Time key="end" value={subscription.period_end} absent="Never" />,
                ],
                ['Since', <Time key="since" value={subscription.created_at} />],
              ] as const)
            : ([['Subscription', 'None: a free plan']] as const)),
        ]}
      />
      <Link to="/admin/invoices" search={{ developer: account.developer_id }}>
        Invoices of this developer
      </Link>
    </Card>
  );
}

function Identity({ account }: { readonly account: Account }) {
  return (
    <Card title="Account">
      <Facts
        facts={[
          ['Name', account.name ? <bdi key="name">{account.name}</bdi> : '—'],
          [
            'Email',
            <span key="email">
              <bdi>{account.email}</bdi>{' '}
              <Badge tone={account.email_verified ? 'good' : 'neutral'}>
                {account.email_verified ? 'verified' : 'not verified'}
              </Badge>
            </span>,
          ],
          ['Created', <Time key="created" value={account.created_at} />],
          [
            'Last sign-in',
            <Time key="signIn" value={account.last_sign_in_at} absent="None with a password" />,
          ],
        ]}
      />
    </Card>
  );
}
