import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Checkbox, Select } from '../../components/field.tsx';
import { EVENT_TYPES, type EventType } from '../../lib/event-types.ts';
import { plural } from '../../lib/format.ts';
import styles from './webhooks.module.css';

/** The types of each noun, such as `user`. */
const GROUPS = Map.groupBy(EVENT_TYPES, (type) => type.split('.')[0]!);

export type Types = readonly (EventType | '*')[];

interface Props {
  readonly types: Types;
  readonly onChange: (types: Types) => void;
  readonly error?: string | undefined;
}

/** Every type, also of later versions, or some of them in groups. */
export function EventTypes({ types, onChange, error }: Props) {
  const isAll = types.includes('*');
  // Those that were chosen before come back if the user changes their mind.
  const [chosen, setChosen] = useState<Types>(isAll ? [] : types);
  const choose = (next: Types) => {
    setChosen(next);
    onChange(next);
  };
  const toggle = (wanted: readonly EventType[], isOn: boolean) => {
    const others = types.filter((type) => !(wanted as Types).includes(type));
    choose(isOn ? [...others, ...wanted] : others);
  };
  return (
    <div className={styles.types}>
      <Select
        label="Events"
        value={isAll ? 'all' : 'some'}
        options={[
          ['all', 'All events, including those of later versions'],
          ['some', 'Only the events that I choose'],
        ]}
        error={error}
        onChange={({ target }) => onChange(target.value === 'all' ? ['*'] : chosen)}
      />
      {!isAll && (
        <>
          <div className={styles.bar}>
            <span role="status">{plural(types.length, 'event type')} chosen</span>
            <Button
              look="quiet"
              onClick={() => choose(types.length === EVENT_TYPES.length ? [] : EVENT_TYPES)}
            >
              {types.length === EVENT_TYPES.length ? 'Select none' : 'Select all'}
            </Button>
          </div>
          <div className={styles.groups} role="group" aria-label="Event types" tabIndex={0}>
            {[...GROUPS].map(([kind, members]) => (
              <Group key={kind} kind={kind} members={members} types={types} onToggle={toggle} />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

interface GroupProps {
  readonly kind: string;
  readonly members: readonly EventType[];
  readonly types: Types;
  readonly onToggle: (types: readonly EventType[], isOn: boolean) => void;
}

function Group({ kind, members, types, onToggle }: GroupProps) {
  const count = members.filter((type) => types.includes(type)).length;
  return (
    <fieldset className={styles.group}>
      <legend className="visually-hidden">{kind}</legend>
      <Checkbox
        label={`All ${kind} events`}
        checked={count === members.length}
        ref={(input) => {
          if (input) input.indeterminate = count > 0 && count < members.length;
        }}
        onChange={({ target }) => onToggle(members, target.checked)}
      />
      <div className={styles.members}>
        {members.map((type) => (
          <Checkbox
            key={type}
            label={type}
            checked={types.includes(type)}
            onChange={({ target }) => onToggle([type], target.checked)}
          />
        ))}
      </div>
    </fieldset>
  );
}
