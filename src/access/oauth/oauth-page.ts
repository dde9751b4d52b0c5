/** A client as pages describe it to users. */
export interface ClientSummary {
  readonly clientId: string;
  readonly name: string;
  /** Whether the operator of this service trusts it. The name of any other client is its own claim. */
  readonly isTrusted: boolean;
  /** Who registered it: unlike the name, a client cannot choose this. */
  readonly owner:
    | { readonly kind: 'developer'; readonly developerId: string; readonly isCurrentUser: boolean }
    | { readonly kind: 'itself' }
    /** Its metadata is a document at this host. */
    | { readonly kind: 'host'; readonly host: string };
}

/** A link to a client that the user may follow after reading its target. */
export interface ReturnLink {
  readonly redirectUri: string;
  /** The fields of a form that is sent there; if undefined, a plain link. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** The pages of the authorization server. Each is a form or a message. */
export type OAuthPage =
  | {
      readonly kind: 'sign-in';
      readonly client: ClientSummary;
      readonly redirectUri: string | undefined;
      readonly email: string;
      readonly alert: string | undefined;
    }
  | {
      readonly kind: 'consent';
      readonly client: ClientSummary;
      /** Where the response goes; undefined for a device. */
      readonly redirectUri: string | undefined;
      readonly scopes: readonly string[];
      /** The account whose owner decides. */
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
      /** The code with dashes, as the device displays it. */
      readonly shownCode: string;
      readonly clientName: string;
      readonly address: string | undefined;
    }
  | { readonly kind: 'device-done'; readonly clientName: string }
  | { readonly kind: 'device-ended'; readonly reason: 'aborted' | 'failed' }
  | {
      readonly kind: 'logout';
      readonly xsrf: string;
      readonly clientName: string | undefined;
      readonly redirectUri: string | undefined;
    }
  | { readonly kind: 'logged-out'; readonly back?: ReturnLink }
  /** An authorization error for a client that this browser has not authorized before. */
  | {
      readonly kind: 'refused';
      readonly error: string;
      readonly description: string | undefined;
      readonly back: ReturnLink;
    }
  | { readonly kind: 'error'; readonly error: string; readonly description: string | undefined };
