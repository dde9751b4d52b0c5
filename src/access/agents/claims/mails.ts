import type { Knex } from 'knex';
import type { Addresses } from '../../../foundation/addresses/addresses.ts';
import type { Mails } from '../../../messaging/mails/mails.ts';
import type { Client } from '../../../platform/address.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Random } from '../../../platform/random.ts';
import { tokenDigest } from '../../../foundation/tokens/tokens.ts';
import { claimMail } from './mail-text.ts';
import { lockClaimForUpdate, updateClaim } from './claim-store.ts';

/** Mails the links to the pages of claims. */
export interface ClaimMails {
  /** Counts a mail, before the transaction that sends it. @throws ApiError TOO_MANY_REQUESTS */
  assertMaySend(email: string, client: Client): Promise<void>;
  /**
   * Mails a new link to a claim's page, inside the caller's transaction. It replaces the link before it.
   * @param issuer the issuer that asserts the agent's identity, if any
   */
  send(
    trx: Knex.Transaction,
    claimDigest: Buffer,
    email: string,
    issuer: string | null,
  ): Promise<{ readonly attemptId: string }>;
}

interface Dependencies {
  readonly mails: Pick<Mails, 'enqueue' | 'assertMaySend'>;
  readonly addresses: Pick<Addresses, 'web'>;
  readonly clock: Clock;
  readonly random: Random;
}

export function createClaimMails({ mails, addresses, clock, random }: Dependencies): ClaimMails {
  return {
    assertMaySend: (email, client) => mails.assertMaySend('agent-claim', email, client),

    async send(trx, claimDigest, email, issuer) {
      const claim = (await lockClaimForUpdate(trx, claimDigest))!;
      const viewToken = random.bytes(32).toString('base64url');
      const attemptId = `cla_${random.bytes(16).toString('base64url')}`;
      const isSame = claim.email?.toLowerCase() === email.toLowerCase();
      await updateClaim(trx, claimDigest, {
        email,
        view_digest: tokenDigest(viewToken),
        attempt_id: attemptId,
        mails: claim.mails + 1,
        mailed_at: clock.now(),
        // A confirmation by the reader of another mailbox does not count.
        ...(!isSame && { developer_id: null, otp_digest: null, otp_expires_at: null, otp_failures: 0 }),
      });
      await mails.enqueue(trx, {
        to: email,
        ...claimMail(addresses.web(), viewToken, issuer),
        kind: 'agent-claim',
        linkEndsAt: claim.expires_at,
      });
      return { attemptId };
    },
  };
}
