import type { operations } from '../generated/types.ts';
import type { Services } from '../src/services.ts';
import type { Signer } from '../src/signatures/signatures.ts';

export type OperationId = keyof operations;

type BodyOf<Operation> = Operation extends { requestBody: { content: { 'application/json': infer Body } } }
  ? Body
  : undefined;
type ParametersOf<Operation, Place extends 'path' | 'query'> = Operation extends {
  parameters: { [P in Place]?: infer Parameters };
}
  ? NonNullable<Parameters>
  : never;

/** `default`s of the contract are filled in before a handler runs. */
interface Filled {
  readonly limit: number;
}
type WithDefaults<Query> = {
  [Name in keyof Query as Name extends keyof Filled ? never : Name]: Query[Name];
} & {
  [Name in keyof Query & keyof Filled]-?: Filled[Name];
};

/** On some operations a signature may be left out. */
type SignerOf<Operation> = Operation extends { parameters: { header: { 'x-signature': string } } }
  ? Signer
  : Signer | undefined;

/** A request that has passed limits, signature or security, and validation. */
export interface HandlerRequest<Id extends OperationId> {
  readonly body: BodyOf<operations[Id]>;
  readonly path: ParametersOf<operations[Id], 'path'>;
  readonly query: WithDefaults<ParametersOf<operations[Id], 'query'>>;
  /** Where it comes from: the address by the socket, or by a proxy that the configuration trusts. */
  readonly client: { readonly address: string };
  /** Whose secret has signed it, on operations that take signatures. */
  readonly signer: SignerOf<operations[Id]>;
  /** Who is signed in, on operations that need a developer's token. */
  readonly developer: { readonly developerId: string };
}

type Successes<Responses> = {
  [Status in keyof Responses]: Status extends 200 | 201 | 202
    ? Responses[Status] extends { content: { 'application/json': infer Body } }
      ? { readonly status: Status; readonly body: Body }
      : never
    : never;
}[keyof Responses];

/** The contract's successful answers of an operation. Errors are thrown as ApiError. */
export type HandlerResponse<Id extends OperationId> = Successes<operations[Id]['responses']>;

/**
 * An operation's function: adapts the request, calls one use case, and shapes the answer. A body that lacks a field
 * or a status that the contract does not declare does not compile.
 */
export type Handler<Id extends OperationId> = (
  request: HandlerRequest<Id>,
  services: Services,
) => Promise<HandlerResponse<Id>>;

export type Handlers = { readonly [Id in OperationId]: Handler<Id> };
