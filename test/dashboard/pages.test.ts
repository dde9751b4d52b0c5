import { testPages } from './support/test-pages.ts';

await testPages({ viewport: { width: 1280, height: 860 }, colorSchemes: ['light', 'dark'] });
