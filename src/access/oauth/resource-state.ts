/** The resources that access tokens can be for (RFC 8707). */
export interface ResourceRules {
  /** The canonical form of a resource of this service, which may have a trailing slash; undefined for others. */
  canonical(resource: string): string | undefined;
  /** Selects one resource, because a token can only be for one. */
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
