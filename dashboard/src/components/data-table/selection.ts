import { useMemo, useState } from 'react';

/** The rows that the user has chosen for a bulk action. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** Whether everything that the list shows is chosen, also rows that have not been loaded. */
  readonly isListed: boolean;
  readonly has: (id: string) => boolean;
  /** @param loaded the rows that stay chosen when everything was chosen before */
  readonly toggle: (id: string, loaded: readonly string[]) => void;
  readonly set: (ids: readonly string[]) => void;
  readonly selectListed: () => void;
}

interface State {
  readonly scope: string;
  readonly ids: ReadonlySet<string>;
  readonly isListed: boolean;
}

const NOTHING: ReadonlySet<string> = new Set();

/** @param scope what the list shows; the selection of another filter is forgotten */
export function useSelection(scope: string): Selection {
  const [state, setState] = useState<State>({ scope, ids: NOTHING, isListed: false });
  const isCurrent = state.scope === scope;
  const ids = isCurrent ? state.ids : NOTHING;
  const isListed = isCurrent && state.isListed;
  return useMemo(() => {
    const set = (chosen: Iterable<string>) => setState({ scope, ids: new Set(chosen), isListed: false });
    return {
      ids,
      isListed,
      has: (id) => isListed || ids.has(id),
      set,
      selectListed: () => setState({ scope, ids: NOTHING, isListed: true }),
      toggle(id, loaded) {
        const next = new Set(isListed ? loaded : ids);
        if (!next.delete(id)) next.add(id);
        set(next);
      },
    };
  }, [ids, isListed, scope]);
}
