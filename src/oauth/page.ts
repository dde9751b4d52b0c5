/** A client, as people are told of it. */
export interface ShownClient {
  readonly clientId: string;
  readonly name: string;
  /** Whether the operator of this service vouches for it. Otherwise it calls itself what it likes. */
  readonly isTrusted: boolean;
  /** Who has registered it, by what cannot be chosen freely. */
  readonly owner:
    | { readonly kind: 'developer'; readonly developerId: string; readonly isOneself: boolean }
    | { readonly kind: 'itself' }
    /** Its metadata are a document at this host. */
    | { readonly kind: 'host'; readonly host: string };
}

/** The way to a client that the user may take after reading where it leads. */
export interface WayBack {
  readonly redirectUri: string;
  /** What a form sends there; a link with everything in it where this is left out. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** What people are shown by the authorization server. Each page is a form, or says one thing. */
export type OAuthPage =
  | {
      readonly kind: 'sign-in';
      readonly client: ShownClient;
      readonly redirectUri: string | undefined;
      readonly email: string;
      readonly alert: string | undefined;
    }
  | {
      readonly kind: 'consent';
      readonly client: ShownClient;
      /** Where the answer goes; undefined for a device. */
      readonly redirectUri: string | undefined;
      readonly scopes: readonly string[];
      /** Whose account it is about. */
      readonly email: string;
    }
  | {
      readonly kind: 'device-code';
      readonly xsrf: string;
      readonly userCode: string;
      readonly alert: string | undefined;
    }
  | {
      readonly kind: 'device-confirm';
      readonly xsrf: string;
      readonly userCode: string;
      /** With the dashes that the device shows. */
      readonly shownCode: string;
      readonly clientName: string;
      readonly address: string | undefined;
    }
  | { readonly kind: 'device-done'; readonly clientName: string }
  | { readonly kind: 'device-over'; readonly reason: 'aborted' | 'failed' }
  | {
      readonly kind: 'logout';
      readonly xsrf: string;
      readonly clientName: string | undefined;
      readonly redirectUri: string | undefined;
    }
  | { readonly kind: 'logged-out'; readonly back?: WayBack }
  /** An authorization response with an error, for a client that this browser has not authorized before. */
  | {
      readonly kind: 'refused';
      readonly error: string;
      readonly description: string | undefined;
      readonly back: WayBack;
    }
  | { readonly kind: 'error'; readonly error: string; readonly description: string | undefined };
