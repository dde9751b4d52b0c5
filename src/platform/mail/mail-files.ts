import { opendir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of mails, and of drafts that a killed process has left. */
const NAME = /^\.?(\d{8}T\d{6}\.\d{3}Z)_mail_\w{26}\.eml$/;

/** The name of a mail's file: names sort as the mails were written. */
export function mailFileName(writtenAt: Date, id: string): string {
  return `${stampOf(writtenAt)}_${id}.eml`;
}

/**
 * Deletes files of mails that were written before a time, and no other file of the folder.
 * @returns how many; fewer than the limit if none is left
 */
export async function clearMailFiles(folder: string, before: Date, limit: number): Promise<number> {
  const stamp = stampOf(before);
  let cleared = 0;
  try {
    for await (const entry of await opendir(folder)) {
      const writtenAt = NAME.exec(entry.name)?.[1];
      if (!entry.isFile() || writtenAt === undefined || writtenAt >= stamp) continue;
      // Another process may have deleted it first.
      await rm(join(folder, entry.name), { force: true });
      cleared += 1;
      if (cleared === limit) break;
    }
  } catch (error) {
    // The folder is created with the first mail.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return cleared;
}

function stampOf(time: Date): string {
  return time.toISOString().replaceAll(/[-:]/g, '');
}
