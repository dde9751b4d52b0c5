import type { Handler } from '../handler.ts';
import { toFile } from './file.ts';

export const uploadFile: Handler<'uploadFile'> = async (
  { path, query, headers, upload, uploadBytes, actor },
  { files },
) => {
  const file = await files.upload(actor, path.app_id, path.file_name, upload, {
    version: query.version,
    authenticatedOnly: query.authenticated_only,
    bytes: uploadBytes,
    sha256: headers['x-checksum-sha256'],
    contentDigest: headers['content-digest'],
  });
  return { status: 200, body: { status: 'success', ...toFile(file) } };
};
