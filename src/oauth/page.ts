/** A client, as people are told of it. */
export interface ShownClient {
  readonly clientId: string;
  readonly name: string;
  /** Who speaks for it. */
  readonly owner:
    | { readonly kind: 'developer'; readonly name: string | null }
    /** It has registered itself: nobody has looked at it. */
    | { readonly kind: 'itself' }
    /** Its metadata are a document at this host. */
    | { readonly kind: 'host'; readonly host: string };
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
  | { readonly kind: 'logged-out' }
  | { readonly kind: 'error'; readonly error: string; readonly description: string | undefined };
