import { z } from 'zod';
import { canonicalNetwork } from './platform/address.ts';
import { LOG_LEVELS } from './platform/logger.ts';
import { parseMailbox, type Mailbox } from './platform/mail/mailbox.ts';
import { decodeMasterKey } from './platform/master-key.ts';
import type { StripeSettings } from './platform/payments/index.ts';
import { StartupError } from './platform/startup-error.ts';

const httpUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((url) => !/[?#]/.test(url), { error: 'must not have a query or a fragment' })
  .transform((url) => url.replace(/\/+$/, ''));

const masterKey = z
  .string()
  .transform((text) => text.split(',').map((part) => decodeMasterKey(part)))
  .refine((keys): keys is Buffer[] => keys.every((key) => key !== undefined), {
    error: 'must be 32 bytes in base64 (openssl rand -base64 32), or several of them separated by commas',
  });

const networks = z
  .string()
  .transform((text) => text.split(',').map((part) => canonicalNetwork(part.trim())))
  .refine((all): all is string[] => !all.includes(undefined), {
    error: 'must be IP addresses or networks in CIDR form, separated by commas',
  });

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/** An address that what comes from it can be trusted by: nobody in between may change it. */
const secureUrl = z
  .url({ protocol: /^https?$/, error: 'must be https addresses' })
  .refine((url) => !/[?#]/.test(url), { error: 'must not have a query or a fragment' })
  .refine((url) => url.startsWith('https:') || LOOPBACK.test(new URL(url).hostname), {
    error: 'must be https addresses, except on the loopback interface',
  });

const issuerEntry = z
  .strictObject({
    issuer: secureUrl,
    jwks_uri: secureUrl.optional(),
    client_ids: z.array(z.string().min(1)).optional(),
  })
  .transform(({ issuer, jwks_uri, client_ids }) => ({
    issuer,
    jwksUri: jwks_uri ?? `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`,
    clientIds: client_ids,
  }));

/** Issuers separated by commas, or JSON where there is more to say of them. */
const agentIssuers = z
  .string()
  .transform((text, context) => {
    if (!text.trimStart().startsWith('[')) return text.split(',').map((each) => ({ issuer: each.trim() }));
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue('must be addresses separated by commas, or a JSON array');
      return z.NEVER;
    }
  })
  .pipe(z.array(issuerEntry))
  .refine((all) => new Set(all.map(({ issuer }) => issuer)).size === all.length, {
    error: 'must not name an issuer twice',
  });

/** What S3 takes as one object in the parts that we send. */
const LARGEST_FILE = 64 * 1024 ** 3;

const fileSize = z
  .string()
  .regex(/^[1-9]\d{0,10}$/, { error: 'must be a whole number of bytes' })
  .transform(Number)
  .refine((bytes) => bytes <= LARGEST_FILE, { error: `must be at most ${LARGEST_FILE} bytes` });

const rateLimit = z
  .string()
  .regex(/^[1-9]\d{0,9}\/[1-9]\d{0,5}$/, { error: 'must be requests/seconds, such as 100/60' })
  .transform((text) => {
    const [requests, seconds] = text.split('/').map(Number) as [number, number];
    return { requests, seconds };
  });

/** One setting: how it is read, and its row in README's table. */
interface Setting {
  readonly parse: z.ZodType;
  readonly default: string;
  readonly description: string;
}

/** Every setting of the service. README's table is made from these rows. */
export const settings = {
  HOST: {
    parse: z.string().min(1).default('127.0.0.1'),
    default: '`127.0.0.1`',
    description: 'The address to listen on.',
  },
  PORT: {
    parse: z
      .string()
      .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65535, {
        error: 'must be a whole number from 0 to 65535',
      })
      .default('3000')
      .transform(Number),
    default: '`3000`',
    description: 'The port to listen on; `0` picks a free one.',
  },
  DATABASE_URL: {
    parse: z
      .url({ protocol: /^postgres(ql)?$/, hostname: /.*/, error: 'must be a postgres:// address' })
      .optional(),
    default: 'embedded',
    description:
      'A PostgreSQL server, version 14 or later. Without it an embedded one runs under `DATA_DIR`.',
  },
  DATA_DIR: {
    parse: z.string().min(1).default('data'),
    default: '`data`',
    description:
      'The folder of the embedded database, of the generated master key, of hosted files and of mails.',
  },
  BASE_URL: {
    parse: httpUrl.optional(),
    default: 'the listening address',
    description: 'The public address of the API, as clients see it.',
  },
  WEB_URL: {
    parse: httpUrl.optional(),
    default: '`BASE_URL`',
    description: 'The public address of the web pages, the error pages among them.',
  },
  MASTER_KEY: {
    parse: masterKey.optional(),
    default: 'generated into `DATA_DIR/master.key`',
    description:
      '32 bytes in base64 that encrypt secrets at rest. Several, separated by commas, rotate it: the first encrypts, all decrypt.',
  },
  TRUSTED_PROXIES: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Addresses and networks in CIDR form, separated by commas, of the proxies whose `X-Forwarded-For` is believed.',
  },
  RATE_LIMIT: {
    parse: rateLimit.default({ requests: 100, seconds: 60 }),
    default: '`100/60`',
    description:
      'Requests and seconds: how many credential requests one address may send to one application in a window, over all nodes. The alternative preset is `30/30`.',
  },
  NONCE_DAYS: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, { error: 'must be a whole number of days from 1 to 9999' })
      .transform(Number)
      .default(30),
    default: '`30`',
    description: 'How many days a nonce of a signed request is remembered.',
  },
  VPN_NETWORKS: {
    parse: z.string().min(1).optional(),
    default: 'none',
    description:
      'A file of networks of VPNs and proxies for the switch `block_vpn`: one address or network in CIDR form a line, or a MaxMind Anonymous-IP database. It is read again when it changes.',
  },
  BROKER_URL: {
    parse: z
      .url({ protocol: /^mqtts?$/, hostname: /.*/, error: 'must be an mqtt:// or mqtts:// address' })
      .optional(),
    default: 'embedded',
    description:
      'An MQTT 5 broker that every event is published to as well, for consumers of your own. Clients of the nodes need none.',
  },
  MQTT_PORT: {
    parse: z
      .string()
      .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65535, {
        error: 'must be a whole number from 0 to 65535',
      })
      .transform(Number)
      .optional(),
    default: 'none',
    description:
      'The port of `HOST` on which clients may follow events by MQTT over TCP, without TLS; `0` picks a free one. Over WebSocket they always may, at `/mqtt`.',
  },
  MAX_EVENT_CLIENTS: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,5}$/, { error: 'must be a whole number from 1 to 999999' })
      .transform(Number)
      .default(10_000),
    default: '`10000`',
    description: 'How many clients may follow events at a time, by MQTT and server-sent events, on one node.',
  },
  EVENT_DAYS: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, { error: 'must be a whole number of days from 1 to 9999' })
      .transform(Number)
      .default(30),
    default: '`30`',
    description: 'How many days an event is kept, so that consumers can go on where they left off.',
  },
  FILES_URL: {
    parse: z.url({ protocol: /^s3$/, hostname: /.*/, error: 'must be an s3:// address' }).optional(),
    default: 'the folder `files` in `DATA_DIR`',
    description:
      'An S3-compatible store for hosted files, which several nodes need unless they share `DATA_DIR/files`: `s3://key:secret@host:port/bucket`, with `?region=…` (`us-east-1` unless told) and `?tls=off` for plain HTTP. A path behind the bucket goes in front of all names. Key and secret are percent-encoded; without them those of the machine are used, as the AWS SDK finds them.',
  },
  FILE_MAX_BYTES: {
    parse: fileSize.default(1024 ** 3),
    default: '`1073741824`',
    description: 'How large a hosted file may be, in bytes.',
  },
  FILE_QUOTA_BYTES: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, { error: 'must be a whole number of bytes' })
      .transform(Number)
      .default(10 * 1024 ** 3),
    default: '`10737418240`',
    description: 'How large all hosted files of one developer may be together, in bytes.',
  },
  WEBHOOK_NETWORKS: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Addresses and networks in CIDR form, separated by commas, that webhooks and security events may reach although they are private. Without it they reach public addresses alone.',
  },
  SMTP_URL: {
    parse: z
      .url({ protocol: /^smtps?$/, hostname: /.*/, error: 'must be an smtp:// or smtps:// address' })
      .optional(),
    default: 'none: mails are files in `DATA_DIR/mail`, announced in the log',
    description:
      'The server that sends mail: `smtp://user:password@host:port`, which goes over to TLS where the server offers STARTTLS, or `smtps://…`, with TLS from the beginning. Ports are 587 and 465 unless told. User and password are percent-encoded; but to this machine itself they are sent over TLS alone.',
  },
  MAIL_FROM: {
    parse: z
      .string()
      .transform(parseMailbox)
      .refine((from): from is Mailbox => from !== undefined, {
        error: 'must be a mail address, or a name and one: Latchkey <no-reply@example.com>',
      })
      .optional(),
    default: '`Latchkey <no-reply@…>` at the host of `WEB_URL`',
    description:
      'Whom mails are from: `address` or `Name <address>`. Where the host of `WEB_URL` is an IP address, mails are from `localhost` unless told.',
  },
  AGENT_ISSUERS: {
    parse: agentIssuers.default([]),
    default: 'none: agents are not let in by assertions',
    description:
      'Who is trusted to say for whom an agent acts, as an account here is opened and let in on their word: issuers of ID-JAGs, separated by commas. Their keys are at `{issuer}/.well-known/jwks.json`. Where they are elsewhere, or only some clients are let in, a JSON array: `[{"issuer": "https://…", "jwks_uri": "https://…", "client_ids": ["…"]}]`.',
  },
  AGENT_ISSUER_NETWORKS: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Addresses and networks in CIDR form, separated by commas, at which the keys of `AGENT_ISSUERS` may be although they are private.',
  },
  ADMIN_TOKEN: {
    parse: z
      .string()
      .transform((text) => text.split(/ *, */))
      .refine((tokens) => tokens.every((token) => /^[A-Za-z0-9\-._~+/]{32,}=*$/.test(token)), {
        error:
          'must be at least 32 characters of a bearer token (openssl rand -hex 32), or several of them separated by commas',
      })
      .optional(),
    default: 'generated into `DATA_DIR/admin.token` with the embedded database, otherwise none',
    description:
      "The bearer token of the administrator's operations: plans, invoices, refunds. Several, separated by commas, rotate it.",
  },
  STRIPE_SECRET_KEY: {
    parse: z
      .string()
      .regex(/^(sk|rk)_(test|live)_\w+$/, {
        error: 'must be a secret or restricted key of Stripe (sk_… or rk_…)',
      })
      .optional(),
    default: 'none: the embedded test processor takes the payments',
    description:
      'The secret key of the Stripe account that is paid. Without it payments go through the embedded test processor: no money moves, and whoever has a test card gets what he asks for.',
  },
  STRIPE_WEBHOOK_SECRET: {
    parse: z
      .string()
      .transform((text) => text.split(/ *, */))
      .refine((secrets) => secrets.every((secret) => /^whsec_\S+$/.test(secret)), {
        error:
          'must be the signing secret of a webhook endpoint of Stripe (whsec_…), or several of them separated by commas',
      })
      .optional(),
    default: 'none; needed with `STRIPE_SECRET_KEY`',
    description:
      'The signing secret of the Stripe webhook endpoint `{BASE_URL}/api/v2/payments/webhook`. Several, separated by commas, rotate it.',
  },
  STRIPE_API_URL: {
    parse: httpUrl.optional(),
    default: '`https://api.stripe.com`',
    description: "Where Stripe's API is asked, for a mock of it.",
  },
  STRIPE_NETWORK_ID: {
    parse: z
      .string()
      .regex(/^[\w-]{1,100}$/, { error: 'must be a Stripe profile (profile_…)' })
      .optional(),
    default: 'none',
    description:
      "The Stripe profile that machines' payment tokens are made out to. Without it machine payments are refused.",
  },
  METRICS_TOKEN: {
    parse: z
      .string()
      .regex(/^[A-Za-z0-9\-._~+/]{16,}=*$/, {
        error: 'must be at least 16 characters of a bearer token (openssl rand -hex 16)',
      })
      .optional(),
    default: 'none',
    description:
      'The bearer token that `/metrics` demands. Without it `/metrics` answers the loopback interface alone, and nobody once `BASE_URL` or `TRUSTED_PROXIES` is set.',
  },
  LOG_LEVEL: {
    parse: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
    default: '`info`',
    description: `The least severe entries that are logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
  },
  DEMO: {
    parse: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
    default: '`on` with the embedded database, otherwise `off`',
    description:
      'Whether a demo developer and application are created at the start, and shown in the terminal.',
  },
} as const satisfies Record<string, Setting>;

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
  readonly baseUrl: string | undefined;
  readonly webUrl: string | undefined;
  readonly masterKeys: readonly Buffer[] | undefined;
  readonly trustedProxies: readonly string[];
  readonly rateLimit: { readonly requests: number; readonly seconds: number };
  readonly nonceDays: number;
  readonly vpnNetworks: string | undefined;
  readonly brokerUrl: string | undefined;
  readonly filesUrl: string | undefined;
  readonly fileMaxBytes: number;
  readonly fileQuotaBytes: number;
  /** Undefined for no MQTT over TCP. */
  readonly mqttPort: number | undefined;
  readonly maxEventClients: number;
  readonly eventDays: number;
  readonly webhookNetworks: readonly string[];
  readonly agentIssuers: readonly {
    readonly issuer: string;
    readonly jwksUri: string;
    /** Undefined for all. */
    readonly clientIds: readonly string[] | undefined;
  }[];
  readonly agentIssuerNetworks: readonly string[];
  /** Undefined for mails that are files. */
  readonly smtpUrl: string | undefined;
  /** Undefined for one of the host of the web pages. */
  readonly mailFrom: Mailbox | undefined;
  /** Every one of them is taken. */
  readonly adminTokens: readonly string[] | undefined;
  /** Undefined for the embedded test processor. */
  readonly stripe: StripeSettings | undefined;
  readonly metricsToken: string | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly demo: boolean;
}

/**
 * Reads the settings once.
 * @param environment usually `process.env`; an empty value counts as not set
 * @throws StartupError one line that names the setting and what is wrong with it
 */
export function loadConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  function read<Name extends keyof typeof settings>(name: Name): z.output<(typeof settings)[Name]['parse']> {
    const result = settings[name].parse.safeParse(environment[name] || undefined);
    if (result.success) return result.data as z.output<(typeof settings)[Name]['parse']>;
    throw new StartupError(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}`);
  }
  const databaseUrl = read('DATABASE_URL');
  const [secretKey, webhookSecrets] = [read('STRIPE_SECRET_KEY'), read('STRIPE_WEBHOOK_SECRET')];
  if (secretKey !== undefined && webhookSecrets === undefined) {
    throw new StartupError(
      'STRIPE_WEBHOOK_SECRET must be set with STRIPE_SECRET_KEY: payments are settled by signed webhooks only',
    );
  }
  const [apiUrl, networkId] = [read('STRIPE_API_URL'), read('STRIPE_NETWORK_ID')];
  if (secretKey === undefined && (webhookSecrets ?? apiUrl ?? networkId) !== undefined) {
    throw new StartupError(
      'STRIPE_SECRET_KEY must be set with the other settings of Stripe: without it the embedded test processor takes the payments, and no money moves',
    );
  }
  return Object.freeze({
    host: read('HOST'),
    port: read('PORT'),
    databaseUrl,
    dataDir: read('DATA_DIR'),
    baseUrl: read('BASE_URL'),
    webUrl: read('WEB_URL'),
    masterKeys: read('MASTER_KEY'),
    trustedProxies: read('TRUSTED_PROXIES'),
    rateLimit: read('RATE_LIMIT'),
    nonceDays: read('NONCE_DAYS'),
    vpnNetworks: read('VPN_NETWORKS'),
    brokerUrl: read('BROKER_URL'),
    filesUrl: read('FILES_URL'),
    fileMaxBytes: read('FILE_MAX_BYTES'),
    fileQuotaBytes: read('FILE_QUOTA_BYTES'),
    mqttPort: read('MQTT_PORT'),
    maxEventClients: read('MAX_EVENT_CLIENTS'),
    eventDays: read('EVENT_DAYS'),
    webhookNetworks: read('WEBHOOK_NETWORKS'),
    agentIssuers: read('AGENT_ISSUERS'),
    agentIssuerNetworks: read('AGENT_ISSUER_NETWORKS'),
    smtpUrl: read('SMTP_URL'),
    mailFrom: read('MAIL_FROM'),
    adminTokens: read('ADMIN_TOKEN'),
    stripe:
      secretKey === undefined
        ? undefined
        : {
            secretKey,
            webhookSecrets: webhookSecrets!,
            apiUrl,
            networkId,
          },
    metricsToken: read('METRICS_TOKEN'),
    logLevel: read('LOG_LEVEL'),
    demo: (read('DEMO') ?? (databaseUrl === undefined ? 'on' : 'off')) === 'on',
  });
}
