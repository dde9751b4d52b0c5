import packageJson from '../package.json' with { type: 'json' };

/** The flags under which `npm start` has Node run the service, for others that run it. */
export const START_FLAGS: readonly string[] = packageJson.scripts.start.match(/--\S+/g) ?? [];
