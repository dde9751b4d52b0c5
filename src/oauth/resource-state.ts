/** What access tokens can be for (RFC 8707). */
export interface ResourceRules {
  /** The one way to write a resource of ours, which may be sent with a slash at its end; undefined for others. */
  canonical(resource: string): string | undefined;
  /** The one of several that a token is for which can only be for one. */
  preferred(resources: string | readonly string[]): string;
}

/** @param own the resources, the preferred one first */
export function resourceRules(own: readonly string[]): ResourceRules {
  const canonical = (resource: string) => own.find((each) => resource === each || resource === `${each}/`);
  return {
    canonical,
    preferred(resources) {
      if (typeof resources === 'string') return resources;
      return own.find((each) => resources.some((one) => canonical(one) === each)) ?? resources[0]!;
    },
  };
}
