import { testPages } from './support/test-pages.ts';

await testPages({ viewport: { width: 360, height: 740 }, colorSchemes: ['light'], isHostile: true });
