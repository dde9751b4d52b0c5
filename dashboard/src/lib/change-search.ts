import type { AnyRoute } from '@tanstack/react-router';

/** A route with the address of its own page. */
interface RouteWithSearch {
  readonly types: { readonly fullSearchSchema: object };
  readonly useNavigate: AnyRoute['useNavigate'];
}

/** Members of the address of a route's page. */
export type SearchOf<Route extends RouteWithSearch> = Partial<Route['types']['fullSearchSchema']>;

/** Returns a function that changes members of the address of a page, without a new entry in the history. */
export function useChangeSearch<Route extends RouteWithSearch>(
  route: Route,
): (members: SearchOf<Route>) => void {
  const navigate = route.useNavigate();
  return (members) =>
    void navigate({
      search: (before: object) => ({ ...before, ...members }),
      replace: true,
      resetScroll: false,
    } as never);
}
