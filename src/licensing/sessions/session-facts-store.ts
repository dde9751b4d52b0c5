import type pg from 'pg';
import type { ApplicationStatus, Pause } from '../../accounts/applications/application-state.ts';
import { byteaArray } from '../../platform/database/bytea-array.ts';
import { bigint, bytea, timestamp } from '../../platform/database/type-parsers.ts';
import type { SubscriptionPeriod } from '../subscriptions/subscription-state.ts';

/** The facts that verify-session needs, read in one statement. */
export interface SessionFacts extends Pause {
  readonly sessionDigest: Buffer;
  /** The digest as PostgreSQL writes bytes. */
  readonly sessionKey: string;
  readonly appId: string;
  readonly userId: string;
  readonly username: string;
  readonly hwidDigest: Buffer;
  /** The device whose signature every use requires. */
  readonly deviceId: string | null;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
  readonly applicationStatus: ApplicationStatus;
  readonly hwidLock: boolean;
  readonly pauseSessions: boolean;
  readonly requireSubscription: boolean;
  readonly requireSignatures: boolean;
  readonly requireClientTrust: boolean;
  readonly secretlessClients: boolean;
  readonly blockVpn: boolean;
  readonly vpnFailClosed: boolean;
  readonly hasClientBans: boolean;
  /** The user's timeline, in any order; empty for a user who never had a subscription. */
  readonly periods: readonly Pick<SubscriptionPeriod, 'tier' | 'ends_at'>[];
}

/** The application's switches as bits of one number, the first one the lowest: each column would cost every request. */
const SWITCHES = [
  'hwid_lock',
  'pause_sessions',
  'require_subscription',
  'require_signatures',
  'block_vpn',
  'vpn_fail_closed',
  'has_client_bans',
  'require_client_trust',
  'secretless_clients',
] as const;

/**
 * A session is returned once for each period of its user's timeline, with its index among the digests of both
 * parameters. Left joins force the planner to start at the digests.
 */
const STATEMENT = {
  name: 'find-sessions',
  rowMode: 'array' as const,
  // Most requests need few columns, so each is converted on first use.
  types: { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig,
  text: `
    select f.place, f.session_digest, f.app_id, f.user_id, u.username, f.hwid_digest, f.expires_at, f.ended_at,
      a.status, ${SWITCHES.map((name, bit) => `(a.${name}::int << ${bit})`).join(' | ')},
      a.paused_at, a.paused_total_ms, p.tier, p.ends_at, f.device_id
    from (
      select k.place, s.* from unnest($1::bytea[]) with ordinality k (digest, place)
      join sessions s on s.token_digest = k.digest
      union all
      select cardinality($1) + k.place, s.* from unnest($2::bytea[]) with ordinality k (digest, place)
      join sessions s on s.session_digest = k.digest
    ) f
    left join users u on u.user_id = f.user_id
    left join applications a on a.app_id = f.app_id and a.deleted_at is null
    left join subscriptions p on p.user_id = f.user_id`,
};

/**
 * Reads sessions by the digests of their tokens and of their ids, all in one statement.
 * @returns the facts of each handle in the order of the digests; undefined if the session does not exist, or its
 *   application is deleted
 */
export async function readSessionFacts(
  client: pg.ClientBase,
  tokenDigests: readonly Buffer[],
  sessionDigests: readonly Buffer[],
): Promise<{ byToken: (SessionFacts | undefined)[]; bySessionId: (SessionFacts | undefined)[] }> {
  const { rows } = await client.query<FactsRow>({
    ...STATEMENT,
    values: [byteaArray(tokenDigests), byteaArray(sessionDigests)],
  });
  const tokens = tokenDigests.length;
  const found = Array<RowFacts | undefined>(tokens + sessionDigests.length).fill(undefined);
  for (const row of rows) {
    const [place, , , , , , , , status, , , , tier, tierEndsAt] = row;
    if (status === null) continue;
    const facts = (found[Number(place) - 1] ??= new RowFacts(row));
    if (tier !== null) facts.periods.push({ tier, ends_at: timestamp(tierEndsAt!) });
  }
  return { byToken: found.slice(0, tokens), bySessionId: found.slice(tokens) };
}

type FactsRow = [
  place: string,
  sessionDigest: string,
  appId: string,
  userId: string,
  username: string,
  hwidDigest: string,
  expiresAt: string,
  endedAt: string | null,
  status: ApplicationStatus | null,
  switches: string,
  pausedAt: string | null,
  pausedTotalMs: string,
  tier: string | null,
  tierEndsAt: string | null,
  deviceId: string | null,
];

/** A row with its columns as text. */
class RowFacts implements SessionFacts {
  readonly periods: Pick<SubscriptionPeriod, 'tier' | 'ends_at'>[] = [];
  readonly expiresAt: Date;
  readonly #row: FactsRow;
  readonly #switches: number;

  constructor(row: FactsRow) {
    this.expiresAt = timestamp(row[6]);
    this.#row = row;
    this.#switches = Number(row[9]);
  }

  get sessionDigest() {
    return bytea(this.#row[1]);
  }
  get sessionKey() {
    return this.#row[1];
  }
  get appId() {
    return this.#row[2];
  }
  get userId() {
    return this.#row[3];
  }
  get username() {
    return this.#row[4];
  }
  get hwidDigest() {
    return bytea(this.#row[5]);
  }
  get deviceId() {
    return this.#row[14];
  }
  get endedAt() {
    return nullable(this.#row[7], timestamp);
  }
  get applicationStatus() {
    return this.#row[8]!;
  }
  get hwidLock() {
    return this.#isOn('hwid_lock');
  }
  get pauseSessions() {
    return this.#isOn('pause_sessions');
  }
  get requireSubscription() {
    return this.#isOn('require_subscription');
  }
  get requireSignatures() {
    return this.#isOn('require_signatures');
  }
  get requireClientTrust() {
    return this.#isOn('require_client_trust');
  }
  get secretlessClients() {
    return this.#isOn('secretless_clients');
  }
  get blockVpn() {
    return this.#isOn('block_vpn');
  }
  get vpnFailClosed() {
    return this.#isOn('vpn_fail_closed');
  }
  get hasClientBans() {
    return this.#isOn('has_client_bans');
  }
  get pausedAt() {
    return nullable(this.#row[10], timestamp);
  }
  get pausedTotalMs() {
    return bigint(this.#row[11]);
  }

  #isOn(name: (typeof SWITCHES)[number]): boolean {
    return (this.#switches & (1 << SWITCHES.indexOf(name))) !== 0;
  }
}

function nullable<T>(text: string | null, parse: (text: string) => T): T | null {
  return text === null ? null : parse(text);
}
