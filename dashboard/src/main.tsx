import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import './design/tokens.css';
import './design/base.css';
import './design/scheme.ts';
import { queryClient } from './query-client.ts';
import { router } from './router.tsx';
import { sessionQuery } from './shell/queries.ts';

// While the scripts of the page are loading.
void queryClient.prefetchQuery(sessionQuery);

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
