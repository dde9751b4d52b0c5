import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { uploadFile } from '../../api/upload.ts';
import { useFilesChanged } from './queries.ts';

interface Wanted {
  readonly name: string;
  readonly version?: string;
  readonly authenticatedOnly: boolean;
}

/** Uploads a file, and says how far it is. Leaving the page cancels it. */
export function useUpload(appId: string, file: File, onDone: () => void) {
  const canceled = useRef(new AbortController());
  const [sent, setSent] = useState(0);
  const changed = useFilesChanged(appId);
  const upload = useMutation({
    mutationFn: ({ name, version, authenticatedOnly }: Wanted) => {
      canceled.current = new AbortController();
      setSent(0);
      return uploadFile({
        path: { app_id: appId, file_name: name },
        query: { ...(version && { version }), authenticated_only: authenticatedOnly },
        file,
        onProgress: setSent,
        signal: canceled.current.signal,
      });
    },
    onSuccess: async () => {
      await changed();
      onDone();
    },
  });
  useEffect(() => () => canceled.current.abort(), []);
  useEffect(() => {
    if (!upload.isPending) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [upload.isPending]);
  const isCanceled = canceled.current.signal.aborted;
  return {
    start: upload.mutate,
    cancel: () => canceled.current.abort(),
    isRunning: upload.isPending,
    isCanceled: isCanceled && !upload.isPending,
    error: isCanceled ? null : upload.error,
    sent: Math.min(sent, file.size),
  };
}
