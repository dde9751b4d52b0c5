import { isVisibleName } from '../../foundation/names/names.ts';
import { selfRegisteredFault, type ClientFault, type RegisteredMetadata } from './client-state.ts';

const MAX_NAME_LENGTH = 100;

/** The first fault of a client that registers itself. Its name must be displayable, because consent pages show it. */
export function selfRegistrationFault(metadata: RegisteredMetadata): ClientFault | undefined {
  const { client_name: name } = metadata;
  if (name !== undefined && !isClientName(name)) {
    return { member: 'client_name', detail: 'must be 1 to 100 visible characters' };
  }
  return selfRegisteredFault(metadata);
}

function isClientName(name: unknown): boolean {
  return typeof name === 'string' && [...name].length <= MAX_NAME_LENGTH && isVisibleName(name);
}
