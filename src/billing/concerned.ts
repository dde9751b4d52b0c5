import type { Actor } from '../audit/audit.ts';

/** What is left to do for a developer after the facts about his payments. */
interface LeftToDo {
  /** Whether his plan may be another one now. */
  readonly hasPlan: boolean;
  /** The processor's name of him, where a fact has told it. */
  readonly customerRef: string | null;
}

/** The developers whom some facts are about, each once. */
export class Concerned {
  readonly #byDeveloper = new Map<string, LeftToDo & { readonly actor: Actor }>();

  add(actor: Actor, { hasPlan, customerRef }: LeftToDo): void {
    const before = this.#byDeveloper.get(actor.developerId);
    this.#byDeveloper.set(actor.developerId, {
      actor,
      hasPlan: hasPlan || (before?.hasPlan ?? false),
      customerRef: customerRef ?? before?.customerRef ?? null,
    });
  }

  /** In one order, so that two who are about the same developers never wait for each other. */
  all(): (LeftToDo & { readonly actor: Actor })[] {
    return [...this.#byDeveloper.values()].sort((a, b) =>
      a.actor.developerId < b.actor.developerId ? -1 : 1,
    );
  }
}
