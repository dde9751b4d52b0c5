import type { IncomingHttpHeaders } from 'node:http';
import type { operations } from '../generated/types.ts';
import type { Services } from '../src/services.ts';
import type { ClientTrust } from '../src/foundation/client-trust/client-trust.ts';
import type { Actor } from '../src/foundation/audit/audit.ts';
import type { Scope } from '../src/accounts/developers/developers.ts';
import type { SentCredential } from '../src/commerce/machine-payments/machine-payments.ts';
import type { SessionIdentity } from '../src/licensing/sessions/sessions.ts';
import type { SignableRequest, Signer } from '../src/accounts/signatures/signatures.ts';

export type OperationId = keyof operations;

type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : OptionalBodyOf<Operation>;
type OptionalBodyOf<Operation> = Operation extends { requestBody?: infer Optional }
  ? [NonNullable<Optional>] extends [never]
    ? undefined
    : NonNullable<Optional> extends { content: { 'application/json': infer Body } }
      ? Body | undefined
      : undefined
  : undefined;
type ParametersOf<Operation, Place extends 'path' | 'query' | 'header'> = Operation extends {
  parameters: { [P in Place]?: infer Parameters };
}
  ? NonNullable<Parameters>
  : never;

/** `default`s of the contract are filled in before a handler runs. */
interface DefaultedParameters {
  readonly limit: number;
}
type WithDefaults<Query> = {
  [Name in keyof Query as Name extends keyof DefaultedParameters ? never : Name]: Query[Name];
} & {
  [Name in keyof Query & keyof DefaultedParameters]-?: DefaultedParameters[Name];
};

/** On some operations a signature may be left out. */
type SignerOf<Operation> = Operation extends { parameters: { header: { 'x-signature': string } } }
  ? Signer
  : Signer | undefined;

/** What an agent's token authorizes. */
export interface AgentToken {
  /** The id of the agent, or of the payment that bought it. */
  readonly id: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
  readonly expiresInSeconds: number;
  /** Whether it acts for a developer. */
  readonly isClaimed: boolean;
}

/** A request that has passed limits, signature or security, and validation. */
export interface HandlerRequest<Id extends OperationId> {
  readonly body: BodyOf<operations[Id]>;
  readonly path: ParametersOf<operations[Id], 'path'>;
  readonly query: WithDefaults<ParametersOf<operations[Id], 'query'>>;
  /** The client's address: from the socket, or from a proxy that the configuration trusts. */
  readonly client: { readonly address: string };
  /** The application whose secret signed the request, on operations that accept signatures. */
  readonly signer: SignerOf<operations[Id]>;
  /** What is known about the program, on operations for programs; undefined if it requests no signed response. */
  readonly trust: ClientTrust | undefined;
  /** The request as signatures cover it, on operations that accept signatures. */
  readonly signable: SignableRequest;
  /** In lower case. */
  readonly headers: Lowercased<ParametersOf<operations[Id], 'header'>>;
  /** The raw bytes of the body. */
  readonly rawBody: Buffer;
  /** All headers, in lower case, for signatures of other parties. */
  readonly allHeaders: IncomingHttpHeaders;
  /** A body that is not JSON, on operations that accept one. */
  readonly upload: AsyncIterable<Uint8Array>;
  /** The size of the body in bytes, if the client announces it. */
  readonly uploadBytes: number | undefined;
  /** Its media type, one of those that the operation accepts. */
  readonly uploadType: string;
  /** Who acts, on operations that need a developer's, a reseller's or the administrator's token. */
  readonly actor: Actor;
  /** The scopes of the token. */
  readonly scopes: readonly Scope[];
  /** Whether the token is still accepted, for responses that take long. */
  readonly isStillAllowed: () => Promise<boolean>;
  /** Who acts, on operations that need a reseller's token. */
  readonly resellerId: string;
  /** The session, on operations that accept a session's token; undefined if it is optional and missing. */
  readonly session: SessionIdentity | undefined;
  /** Who acts, on operations that need an agent's token. */
  readonly agent: AgentToken;
  /** The payment credential, on operations that accept a payment; undefined if none was sent. */
  readonly payment: SentCredential | undefined;
}

type Lowercased<Headers> = { [Name in keyof Headers as Lowercase<Name & string>]: Headers[Name] };

type SuccessStatus = 200 | 201 | 202 | 206;

/** A response has a JSON body, or a stream for any other content. */
type ResponseOf<Status, Content> = {
  [Type in keyof Content]:
    | (Type extends 'application/json'
        ? { readonly status: Status; readonly body: Content[Type]; readonly headers?: Fields }
        : never)
    | ([keyof Content] extends ['application/json'] ? never : StreamedResponse<Status, Type & string>);
}[keyof Content];
interface StreamedResponse<Status, Type> {
  readonly status: Status;
  readonly mediaType: Type;
  readonly stream: AsyncIterable<string | Uint8Array>;
  readonly headers?: Fields;
}
type Fields = Readonly<Record<string, string>>;

type Successes<Responses> = {
  [Status in keyof Responses]: Status extends SuccessStatus
    ? Responses[Status] extends { content: infer Content }
      ? ResponseOf<Status, Content>
      : { readonly status: Status; readonly headers?: Fields }
    : Status extends 304
      ? { readonly status: Status; readonly headers?: Fields }
      : never;
}[keyof Responses];

interface Exceptions {
  /** Long JSON. */
  readonly createLicenses: StreamedResponse<201, 'application/json'>;
  /** RFC 8935 requires 202 without a body for a security event; generated clients support one kind of success. */
  readonly revokeAgent: { readonly status: 202; readonly body?: undefined };
}

/** The contract's successful responses of an operation. Errors are thrown as ApiError. */
export type HandlerResponse<Id extends OperationId> =
  Successes<operations[Id]['responses']> | (Id extends keyof Exceptions ? Exceptions[Id] : never);

/**
 * An operation's function: adapts the request, calls one use case, and shapes the response. A body that lacks a field
 * or a status that the contract does not declare does not compile.
 */
export type Handler<Id extends OperationId> = (
  request: HandlerRequest<Id>,
  services: Services,
) => Promise<HandlerResponse<Id>>;

export type Handlers = { readonly [Id in OperationId]: Handler<Id> };
