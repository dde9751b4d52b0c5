import type { Knex } from 'knex';
import type { Audit } from '../../../foundation/audit/audit.ts';
import type { Developers, Scope } from '../../../accounts/developers/developers.ts';
import type { Keys } from '../../../foundation/installation-keys/installation-keys.ts';
import { canBeChosen } from '../../../foundation/passwords/password-state.ts';
import type { Client } from '../../../platform/address.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';
import { tokenDigest } from '../../../foundation/tokens/tokens.ts';
import { agentActor } from '../agent-actor.ts';
import { claimState, CODE_MS, codeFrom } from './claim-state.ts';
import * as store from './claim-store.ts';

/** What the page of a mailed link shows. */
export interface ClaimView {
  /** `open`: it can be confirmed, or rejected. */
  readonly state: 'open' | 'claimed' | 'rejected' | 'expired';
  readonly email: string;
  readonly agentName: string | null;
  /** Who asserts the agent's identity. */
  readonly issuer: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Date;
  /** Whether the user must sign in to confirm: the account of this address has a password. */
  readonly requiresPassword: boolean;
}

/**
 * The page of a mailed link, where the user confirms or rejects an agent. The token in its address is a
 * secret.
 */
export interface ClaimPage {
  /** @returns undefined unless the token is that of the last link mailed for a claim */
  view(viewToken: string): Promise<ClaimView | undefined>;
  /**
   * Makes a new six-digit code for the agent. It replaces the code before it, and is valid for ten minutes.
   * @param chosen a password for an account without one, which is opened if necessary; an empty string for
   *   none
   * @returns undefined like `view`; `denied` when the password is wrong, or may not be chosen
   * @throws ApiError TOO_MANY_REQUESTS
   */
  confirm(
    viewToken: string,
    passwords: { readonly password: string; readonly chosen: string },
    client: Client,
  ): Promise<{ readonly otp: string; readonly expiresAt: Date } | { readonly denied: true } | undefined>;
  /** Rejects the agent, which ends the claim. @returns whether there was a claim */
  reject(viewToken: string, client: Client): Promise<boolean>;
}

interface Dependencies {
  readonly knex: Knex;
  readonly developers: Pick<
    Developers,
    'find' | 'ownerOf' | 'lockSignInsForUpdate' | 'hashPassword' | 'openAccount' | 'setFirstPassword'
  >;
  readonly keys: Pick<Keys, 'claimCodeDigest'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
}

export function createClaimPage(deps: Dependencies): ClaimPage {
  const { knex, developers, keys, audit, clock, random } = deps;

  function stateOf(row: store.ClaimViewRow) {
    const state = claimState(row, clock.now());
    return state === 'open' && row.revoked_at ? 'expired' : state;
  }

  /**
   * Sets the password of an account without one, so that its owner can sign in and revoke what acts for them.
   * @returns undefined when a concurrent request has just set one
   */
  async function choose(
    trx: Knex.Transaction,
    email: string,
    passwordHash: string,
    client: Client,
  ): Promise<string | undefined> {
    const account = await developers.find(trx, email);
    if (account?.hasPassword) return undefined;
    const developerId =
      account?.developerId ?? (await developers.openAccount(trx, { email, verified: true }, client));
    if (developerId === undefined) return undefined;
    const isGiven = await developers.setFirstPassword(trx, developerId, passwordHash, client);
    return isGiven ? developerId : undefined;
  }

  async function record(
    trx: Knex.Transaction,
    action: string,
    { agent_id: agentId }: store.ClaimRow,
    developerId: string | null,
    client: Client,
  ): Promise<void> {
    const actor = agentActor(agentId, developerId, client);
    await audit.record(trx, actor, { action, target: agentId });
  }

  return {
    async view(viewToken) {
      const row = await store.findClaimByView(knex, tokenDigest(viewToken));
      if (!row || row.email === null) return undefined;
      const account = await developers.find(knex, row.email);
      return {
        state: stateOf(row),
        email: row.email,
        agentName: row.name,
        issuer: row.issuer,
        scopes: row.scopes as Scope[],
        expiresAt: row.expires_at,
        requiresPassword: account?.hasPassword ?? false,
      };
    },

    async confirm(viewToken, { password, chosen }, client) {
      const digest = tokenDigest(viewToken);
      const seen = await store.findClaimByView(knex, digest);
      if (!seen || seen.email === null || stateOf(seen) !== 'open') return undefined;
      const account = await developers.find(knex, seen.email);
      const owner = account?.hasPassword
        ? await developers.ownerOf(seen.email, password, client, digest)
        : undefined;
      if (account?.hasPassword && !owner) return { denied: true };
      const isChosen = !account?.hasPassword && chosen !== '';
      if (isChosen && !canBeChosen(chosen)) return { denied: true };
      const chosenHash = isChosen ? await developers.hashPassword(chosen) : undefined;
      const otp = codeFrom(random.bytes(8));
      return knex.transaction(async (trx) => {
        const claim = await store.lockClaimByViewForUpdate(trx, digest);
        const now = clock.now();
        if (!claim || claimState(claim, now) !== 'open') return undefined;
        // The password may have been replaced since it was checked.
        const generation = owner && (await developers.lockSignInsForUpdate(trx, owner.developerId));
        if (owner && generation !== owner.generation) return { denied: true };
        const developerId =
          chosenHash === undefined
            ? account?.developerId
            : await choose(trx, claim.email!, chosenHash, client);
        const expiresAt = new Date(Math.min(now.getTime() + CODE_MS, claim.expires_at.getTime()));
        await store.updateClaim(trx, claim.claim_digest, {
          developer_id: developerId ?? null,
          otp_digest: keys.claimCodeDigest(claim.claim_digest, otp),
          otp_expires_at: expiresAt,
          otp_failures: 0,
        });
        await record(trx, 'agent.claim_confirmed', claim, developerId ?? null, client);
        return { otp, expiresAt };
      });
    },

    async reject(viewToken, client) {
      return knex.transaction(async (trx) => {
        const claim = await store.lockClaimByViewForUpdate(trx, tokenDigest(viewToken));
        if (!claim || claimState(claim, clock.now()) !== 'open') return claim !== undefined;
        await store.updateClaim(trx, claim.claim_digest, { rejected_at: clock.now(), otp_digest: null });
        const account = claim.email === null ? undefined : await developers.find(trx, claim.email);
        await record(trx, 'agent.claim_rejected', claim, account?.developerId ?? null, client);
        return true;
      });
    },
  };
}
