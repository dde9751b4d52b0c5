import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { DialogForm } from '../../components/dialog-form.tsx';
import { Field, Select, TextArea } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { bytesOf, formatBytes } from '../../lib/bytes.ts';
import { prettyJson } from '../../lib/json.ts';
import { MOST, setVariable, useVariablesChanged, type Variable, type Visibility } from './queries.ts';
import styles from './variables.module.css';

interface Props {
  readonly appId: string;
  /** The variable to change. Without one, the form creates one. */
  readonly variable?: Variable;
  /** Names that are in use: a new variable must not replace another one by accident. */
  readonly taken: ReadonlySet<string>;
  readonly onClose: () => void;
}

/** The name, the value and who can read it. */
export function VariableForm({ appId, variable, taken, onClose }: Props) {
  const [name, setName] = useState(variable?.name ?? '');
  const [value, setValue] = useState(variable?.value ?? '');
  const [visibility, setVisibility] = useState<Visibility>(variable?.visibility ?? 'session');
  const changed = useVariablesChanged(appId);
  const submit = async () => {
    await setVariable(appId, name, { value, visibility });
    await changed();
    toast(variable ? `${name} saved.` : `${name} created.`);
  };
  const size = bytesOf(value);
  const isTooLarge = size > MOST.valueBytes;
  const isTaken = !variable && taken.has(name);
  const pretty = prettyJson(value);
  return (
    <DialogForm
      action={variable ? 'Save' : 'Create'}
      onClose={onClose}
      onSubmit={submit}
      isDisabled={isTooLarge || isTaken}
    >
      {(errorOf) => (
        <>
          {!variable && (
            <Field
              label="Name"
              required
              maxLength={64}
              pattern="[A-Za-z0-9_][A-Za-z0-9_.\-]*"
              autoComplete="off"
              spellCheck={false}
              value={name}
              hint="Letters, digits, dots, dashes and underscores. Your program reads the value by this name."
              error={isTaken ? 'A variable with this name exists. Open it to change it.' : errorOf('name')}
              onChange={({ target }) => setName(target.value)}
            />
          )}
          <div className={styles.value}>
            <TextArea
              label="Value"
              rows={10}
              spellCheck={false}
              className={styles.area}
              value={value}
              error={
                isTooLarge
                  ? `This value has ${formatBytes(size)}. The limit is ${formatBytes(MOST.valueBytes)}.`
                  : errorOf('value')
              }
              hint={`${formatBytes(size)} of ${formatBytes(MOST.valueBytes)}. Programs get it exactly as it is here.`}
              onChange={({ target }) => setValue(target.value)}
            />
            {pretty !== undefined && pretty !== value && (
              <Button look="quiet" className={styles.format} onClick={() => setValue(pretty)}>
                Format JSON
              </Button>
            )}
          </div>
          <Select
            label="Readable by"
            value={visibility}
            options={[
              ['session', 'Signed-in users only'],
              ['public', 'Every client, also before the login'],
            ]}
            hint={
              visibility === 'public'
                ? 'Everyone who has your program can read it.'
                : 'The service returns it only to a live session.'
            }
            onChange={({ target }) => setVisibility(target.value as Visibility)}
          />
        </>
      )}
    </DialogForm>
  );
}
