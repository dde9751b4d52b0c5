import { z } from 'zod';
import { LOG_LEVELS } from './platform/logger.ts';
import { parseMailbox, type Mailbox } from './platform/mail/mailbox.ts';
import {
  agentIssuers,
  clientIds,
  fileSize,
  httpUrl,
  masterKey,
  networks,
  postgresUrl,
  rateLimit,
} from './setting-values.ts';

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
    parse: postgresUrl.optional(),
    default: 'embedded',
    description:
      'A PostgreSQL server, version 14 or later. Without it an embedded one runs under `DATA_DIR`.',
  },
  DATABASE_DIRECT_URL: {
    parse: postgresUrl.optional(),
    default: '`DATABASE_URL`',
    description:
      'The same database past a pooler in transaction mode, for what needs a session of its own: LISTEN and migrations.',
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
  TRUSTED_CLIENTS: {
    parse: clientIds.default([]),
    default: 'none',
    description:
      'OAuth clients that you vouch for, by their `client_id`, separated by commas. The consent page shows no warning for them, and errors are sent to their redirect URIs at once.',
  },
  CLIENT_ID_NETWORKS: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Addresses and networks in CIDR form, separated by commas, at which the metadata documents of OAuth clients (a `client_id` that is a URL) may be although they are private. Anybody can make the service fetch such a document, so name only addresses that any visitor may reach.',
  },
  ADMIN_TOKEN: {
    parse: z
      .string()
      .transform((text) => text.split(',').map((token) => token.trim()))
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
      .transform((text) => text.split(',').map((secret) => secret.trim()))
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
