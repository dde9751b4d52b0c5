import type { Actor } from '../../../foundation/audit/audit.ts';

/** What remains to be done for a developer after the facts about their payments are settled. */
interface FollowUp {
  /** Whether their plan may have changed. */
  readonly hasPlan: boolean;
  /** The processor's id of the developer, if a fact names it. */
  readonly customerRef: string | null;
}

/** The developers that a set of facts affects, each once. */
export class AffectedDevelopers {
  readonly #byDeveloper = new Map<string, FollowUp & { readonly actor: Actor }>();

  add(actor: Actor, { hasPlan, customerRef }: FollowUp): void {
    const before = this.#byDeveloper.get(actor.developerId);
    this.#byDeveloper.set(actor.developerId, {
      actor,
      hasPlan: hasPlan || (before?.hasPlan ?? false),
      customerRef: customerRef ?? before?.customerRef ?? null,
    });
  }

  /** In a fixed order, to avoid deadlocks between settlements. */
  all(): (FollowUp & { readonly actor: Actor })[] {
    return [...this.#byDeveloper.values()].sort((a, b) =>
      a.actor.developerId < b.actor.developerId ? -1 : 1,
    );
  }
}
