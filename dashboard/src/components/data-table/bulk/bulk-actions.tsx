import { type ReactNode, useState } from 'react';
import type { CursorList } from '../../../api/pages.ts';
import { formatNumber, plural } from '../../../lib/format.ts';
import { Button } from '../../button.tsx';
import { Menu, MenuItem } from '../../menu.tsx';
import type { Selection } from '../selection.ts';
import type { BulkTarget, RunStep } from './bulk.ts';
import styles from './bulk-bar.module.css';
import { BulkDialog } from './bulk-dialog.tsx';

/** Something that can be done with many rows. */
export interface BulkAction {
  /** A verb, such as `Ban`. */
  readonly label: string;
  readonly description: string;
  /** Drafts of the page that the action sends, such as a reason. */
  readonly fields?: ReactNode;
  readonly run: RunStep;
  /** Whether the service can say first what would change. */
  readonly hasDryRun?: boolean;
  /** Whether it can change everything that is listed. */
  readonly isForListed?: boolean;
  /** Whether it cannot be undone. */
  readonly isFinal?: boolean;
}

interface Props<Item> {
  /** What a row is, such as `license`. */
  readonly noun: string;
  readonly list: CursorList<Item>;
  readonly selection: Selection;
  readonly idOf: (item: Item) => string;
  readonly nameOf: (item: Item) => string;
  /** The actions in the bar, and those behind "More". */
  readonly actions: readonly BulkAction[];
  readonly more?: readonly BulkAction[];
  /** Called when a dialog opens, to empty the drafts of the page. */
  readonly onOpen?: () => void;
  /** Called when something has changed. */
  readonly onChanged: () => void;
}

/** What can be done with the chosen rows: a bar at the end of the window, and a dialog for each action. */
export function BulkActions<Item>(props: Props<Item>) {
  const { noun, list, selection, idOf, nameOf, actions, more = [], onOpen, onChanged } = props;
  const [opened, setOpened] = useState<string>();
  const open = (label: string) => {
    onOpen?.();
    setOpened(label);
  };
  const action = [...actions, ...more].find(({ label }) => label === opened);
  if (!selection.isListed && selection.ids.size === 0) return null;

  const target: BulkTarget = selection.isListed ? 'listed' : { ids: [...selection.ids] };
  const names = new Map(list.items.map((item) => [idOf(item), nameOf(item)]));
  const count = selection.isListed && !list.hasMore ? list.items.length : selection.ids.size;
  const words = selection.isListed && list.hasMore ? `all listed ${noun}s` : plural(count, noun);
  const isPossible = ({ isForListed }: BulkAction) => isForListed || !selection.isListed;
  return (
    <div className={styles.bar} role="region" aria-label="Bulk actions">
      <span className={styles.count} role="status">
        {selection.isListed ? `All listed ${noun}s selected` : `${formatNumber(count)} selected`}
      </span>
      {!selection.isListed && list.hasMore && (
        <Button look="quiet" onClick={selection.selectListed}>
          Select all listed {noun}s
        </Button>
      )}
      {actions.filter(isPossible).map(({ label }) => (
        <Button key={label} onClick={() => open(label)}>
          {label}
        </Button>
      ))}
      {more.some(isPossible) && (
        <Menu trigger={<Button>More</Button>}>
          {more.filter(isPossible).map(({ label, isFinal }) => (
            <MenuItem key={label} isDangerous={isFinal ?? false} onClick={() => open(label)}>
              {label}
            </MenuItem>
          ))}
        </Menu>
      )}
      <Button look="quiet" onClick={() => selection.set([])}>
        Clear
      </Button>
      {action && (
        <BulkDialog
          action={action}
          target={target}
          noun={noun}
          words={words}
          nameOf={(id) => names.get(id) ?? id}
          onClose={(isOver) => {
            setOpened(undefined);
            if (isOver) selection.set([]);
          }}
          onChanged={onChanged}
        />
      )}
    </div>
  );
}
