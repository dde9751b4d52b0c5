import type { components } from '../../generated/types.ts';
import type { HostedFile } from '../../src/licensing/files/files.ts';

type Schemas = components['schemas'];

/** A file as its developer sees it. */
export function toFile(file: HostedFile): Schemas['HostedFile'] {
  return {
    file_id: file.fileId,
    ...toClientFile(file),
    authenticated_only: file.authenticatedOnly,
    created_at: file.createdAt.toISOString(),
  };
}

/** A file as programs see it. */
export function toClientFile(file: HostedFile): Schemas['ClientFile'] {
  return {
    name: file.name,
    version: file.version,
    size: file.size,
    sha256: file.sha256,
    updated_at: file.updatedAt.toISOString(),
  };
}
