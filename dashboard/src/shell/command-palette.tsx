import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import styles from './command-palette.module.css';
import { commonCommands } from './common-commands.ts';
import { type Command, useFrame } from './frame.ts';

const SHOWN = 40;

interface Props {
  readonly onClose: () => void;
  /** Shows the requests of the page as curl commands. */
  readonly onCurl: () => void;
}

/** Opens a page or what the console can find, or begins an action, by a part of its name. */
export default function CommandPalette(props: Props) {
  return (
    <Dialog kind="palette" open onClose={props.onClose} title="Go to">
      <Search {...props} />
    </Dialog>
  );
}

function Search({ onClose, onCurl }: Props) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const { kind, opens, useCommands } = useFrame();
  const pages = usePages();
  const more = useCommands(text);
  const offered = [...more.own, ...pages, ...commonCommands(kind, onCurl), ...more.others];
  const commands = offered.filter(({ label }) => matches(label, text));
  const found = [...commands.slice(0, SHOWN), ...more.hits];
  const current = found[Math.min(at, found.length - 1)];

  const idOf = (command: Command) => `${id}-${encodeURIComponent(command.id)}`;

  const choose = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined)
      setAt((found.length + Math.min(at, found.length - 1) + step) % (found.length || 1));
    else if (event.key === 'Enter') choose(current);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div className={styles.search}>
        <Icon name="search" />
        <input
          role="combobox"
          aria-label={`Go to ${opens}`}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={current && idOf(current)}
          aria-autocomplete="list"
          autoComplete="off"
          placeholder={`Go to ${opens}`}
          value={text}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
        />
      </div>
      <div id={`${id}-list`} role="listbox" aria-label="Results" className={styles.list}>
        {found.map((command) => (
          <div
            key={command.id}
            id={idOf(command)}
            role="option"
            ref={command === current ? (option) => option?.scrollIntoView({ block: 'nearest' }) : undefined}
            aria-selected={command === current}
            className={styles.option}
            onClick={() => choose(command)}
            onMouseMove={() => setAt(found.indexOf(command))}
          >
            <Icon name={command.icon} />
            <span className={styles.label}>{command.label}</span>
            <span className={styles.group}>{command.group}</span>
          </div>
        ))}
      </div>
      <p role="status" className={found.length === 0 ? styles.none : 'visually-hidden'}>
        {found.length === 0 ? `Nothing is named like “${text}”.` : `${found.length} results`}
      </p>
    </>
  );
}

/** The pages of the console. */
function usePages(): readonly Command[] {
  const navigate = useNavigate();
  return useFrame().pages.map(({ to, label, icon }) => ({
    id: to,
    label,
    icon,
    group: 'Page',
    run: () => void navigate({ to }),
  }));
}

/** Whether all words of the text are somewhere in the label. */
function matches(label: string, text: string): boolean {
  const name = label.toLocaleLowerCase();
  return text
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word));
}
