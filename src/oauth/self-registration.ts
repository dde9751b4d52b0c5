import { isVisibleName } from '../names/names.ts';
import { selfRegisteredFault, type ClientFault, type RegisteredMetadata } from './client-state.ts';

const LONGEST_NAME = 100;

/** What is wrong with a client that registers itself: people are asked about it by its name. */
export function selfRegistrationFault(metadata: RegisteredMetadata): ClientFault | undefined {
  const { client_name: name } = metadata;
  if (name !== undefined && !isClientName(name)) {
    return { member: 'client_name', detail: 'must be 1 to 100 visible characters' };
  }
  return selfRegisteredFault(metadata);
}

function isClientName(name: unknown): boolean {
  return typeof name === 'string' && [...name].length <= LONGEST_NAME && isVisibleName(name);
}
