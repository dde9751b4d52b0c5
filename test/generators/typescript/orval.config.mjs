export default {
  latchkey: {
    input: process.env.CONTRACT,
    // Without a base URL, orval's clients work only in a browser on the service's own pages.
    output: { target: 'clients/orval.ts', client: 'fetch', baseUrl: { runtime: 'process.env.BASE_URL' } },
  },
};
