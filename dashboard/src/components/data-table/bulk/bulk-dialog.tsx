import { useEffect, useRef, useState } from 'react';
import { formatNumber, plural } from '../../../lib/format.ts';
import { Button } from '../../button.tsx';
import { Dialog, DialogActions } from '../../dialog.tsx';
import { Field } from '../../field.tsx';
import { Progress } from '../../progress.tsx';
import type { BulkAction } from './bulk-actions.tsx';
import { type BulkState, type BulkTarget, runBulk } from './bulk.ts';
import styles from './bulk-dialog.module.css';
import { Failures } from './failures.tsx';

interface Props {
  readonly action: BulkAction;
  readonly target: BulkTarget;
  readonly noun: string;
  /** What is chosen, such as `12 licenses`. */
  readonly words: string;
  readonly nameOf: (id: string) => string;
  /** @param isOver whether the action has run */
  readonly onClose: (isOver: boolean) => void;
  readonly onChanged: () => void;
}

/**
 * Says what a bulk action would change, confirms it, shows its progress, lets the user cancel it, and lists what stayed
 * as it was, with the request ids.
 */
export function BulkDialog({ action, target, noun, words, nameOf, onClose, onChanged }: Props) {
  const { label, description, fields, isFinal, hasDryRun } = action;
  const preview = usePreview(action, target);
  const [state, setState] = useState<BulkState>();
  const [typed, setTyped] = useState('');
  const canceled = useRef(new AbortController());
  const isRunning = state !== undefined && !state.isOver;
  // What cannot be undone and has not been looked at row by row needs more than a click.
  const mustType = isFinal === true && target === 'listed';
  const total = target === 'listed' ? (preview?.matched ?? 0) : target.ids.length;

  // No one could stop it or see what failed.
  useEffect(() => () => canceled.current.abort(), []);

  async function start() {
    canceled.current = new AbortController();
    const { signal } = canceled.current;
    await runBulk(action.run, target, { isDryRun: false, signal }, setState);
    onChanged();
  }
  const close = () => {
    canceled.current.abort();
    onClose(state?.isOver === true);
  };
  return (
    <Dialog alert open onClose={close} title={`${label} ${words}?`} description={description}>
      {!state && hasDryRun && <Preview state={preview} noun={noun} />}
      {!state && fields}
      {!state && mustType && (
        <Field
          label={`Type ${label.toLowerCase()} to confirm`}
          value={typed}
          autoComplete="off"
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      {state && (
        <div className={styles.state} role="status">
          <Progress label="Progress" value={state.matched} max={total} />
          <p>
            {formatNumber(state.changed)} of {plural(Math.max(total, state.matched), noun)} changed
            {state.isOver && (canceled.current.signal.aborted ? ', canceled' : ', done')}
          </p>
        </div>
      )}
      {state && <Failures failures={state.failures} nameOf={nameOf} />}
      <DialogActions>
        {state?.isOver ? (
          <Button look="primary" onClick={close}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={isRunning ? () => canceled.current.abort() : close}>Cancel</Button>
            <Button
              look="danger"
              busy={isRunning}
              disabled={
                (mustType && typed !== label.toLowerCase()) || (hasDryRun === true && !isChecked(preview))
              }
              onClick={() => void start()}
            >
              {label}
            </Button>
          </>
        )}
      </DialogActions>
    </Dialog>
  );
}

/** Whether it is known what would change. */
const isChecked = (preview: BulkState | undefined): boolean =>
  preview?.isOver === true && preview.failures.every(({ id }) => id !== undefined);

/** What the action would do. */
function usePreview({ hasDryRun, run }: BulkAction, target: BulkTarget): BulkState | undefined {
  const [state, setState] = useState<BulkState>();
  // The dialog is about what was chosen when it opened.
  const fixed = useRef({ hasDryRun, run, target });
  useEffect(() => {
    const { hasDryRun: isPossible, run: step, target: chosen } = fixed.current;
    if (!isPossible) return;
    const canceled = new AbortController();
    void runBulk(step, chosen, { isDryRun: true, signal: canceled.signal }, (next) => {
      if (!canceled.signal.aborted) setState(next);
    });
    return () => canceled.abort();
  }, []);
  return state;
}

function Preview({ state, noun }: { readonly state: BulkState | undefined; readonly noun: string }) {
  const refused = state?.failures.find(({ id }) => id === undefined);
  if (refused) return <Failures failures={[refused]} nameOf={(id) => id} />;
  if (!state?.isOver) {
    return <p role="status">Checking. {state && `${plural(state.matched, noun)} so far.`}</p>;
  }
  const same = state.matched - state.changed;
  return (
    <p role="status">
      <strong>{plural(state.changed, noun)} will change.</strong>
      {same > 0 &&
        ` ${formatNumber(same)} ${same === 1 ? 'stays' : 'stay'} as ${same === 1 ? 'it is' : 'they are'}.`}
    </p>
  );
}
