import type { components } from '../../generated/types.ts';
import type { Variable } from '../../src/licensing/variables/variables.ts';

type Schemas = components['schemas'];

/** A variable of an application as the contract shows it. */
export function toVariable(variable: Variable): Schemas['Variable'] {
  return { ...toUserVariable(variable), visibility: variable.visibility };
}

/** A variable of a user as the contract shows it. */
export function toUserVariable(variable: Variable): Schemas['UserVariable'] {
  return {
    name: variable.name,
    value: variable.value,
    created_at: variable.createdAt.toISOString(),
    updated_at: variable.updatedAt.toISOString(),
  };
}
