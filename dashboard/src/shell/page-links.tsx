import { Link } from '@tanstack/react-router';
import { Icon } from '../components/icon.tsx';
import type { Destination } from './navigation.ts';

interface Props {
  readonly pages: readonly Destination[];
  readonly params?: { readonly appId: string };
  readonly className: string | undefined;
}

/** Links to pages, with the current one marked. */
export function PageLinks({ pages, params, className }: Props) {
  return pages.map(({ to, label, icon, isExact }) => (
    <Link
      key={to}
      to={to}
      {...(params && { params })}
      className={className}
      activeOptions={{ exact: isExact ?? false, includeSearch: false }}
    >
      <Icon name={icon} />
      {label}
    </Link>
  ));
}
