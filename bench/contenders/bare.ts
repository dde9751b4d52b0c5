import { listen, runContender } from './contender.ts';
import { jsonListener } from './json-server.ts';

/** node:http alone: reads the request, knows nothing about the session. */
runContender(() => listen(jsonListener(() => ({ status: 'success', valid: true }))));
