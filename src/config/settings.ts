import { z } from 'zod';
import { LOG_LEVELS } from '../platform/logger.ts';
import { parseMailbox, type Mailbox } from '../platform/mail/mailbox.ts';
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

/** One setting: its parser, and its row in docs/reference/settings.md. */
interface Setting {
  readonly parse: z.ZodType;
  readonly default: string;
  readonly description: string;
}

/** Every setting of the service. docs/reference/settings.md is generated from these rows. */
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
      'The PostgreSQL server, version 14 or later. Without this setting, an embedded server runs under ' +
      '`DATA_DIR`.',
  },
  DATABASE_DIRECT_URL: {
    parse: postgresUrl.optional(),
    default: '`DATABASE_URL`',
    description:
      'The same database without a pooler in transaction mode, for what requires a session: LISTEN and ' +
      'migrations.',
  },
  DATA_DIR: {
    parse: z.string().min(1).default('data'),
    default: '`data`',
    description:
      'The folder of the embedded database, the generated master key, hosted files and mail files.',
  },
  BASE_URL: {
    parse: httpUrl.optional(),
    default: 'the listening address',
    description: 'The public address of the API, as clients see it.',
  },
  WEB_URL: {
    parse: httpUrl.optional(),
    default: '`BASE_URL`',
    description: 'The public address of the web pages, including the error pages.',
  },
  MASTER_KEY: {
    parse: masterKey.optional(),
    default: 'generated into `DATA_DIR/master.key`',
    description:
      '32 bytes in base64 that encrypt secrets at rest. To rotate the key, list several, separated by ' +
      'commas: the first one encrypts, all of them decrypt.',
  },
  TRUSTED_PROXIES: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Addresses and networks in CIDR form, separated by commas, of the proxies whose `X-Forwarded-For` ' +
      'header is trusted.',
  },
  RATE_LIMIT: {
    parse: rateLimit.default({ requests: 100, seconds: 60 }),
    default: '`100/60`',
    description:
      'The rate limit of credential requests, as requests/seconds: how many one address can send to one ' +
      'application in a window, across all nodes. The alternative preset is `30/30`.',
  },
  NONCE_DAYS: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, { error: 'must be a whole number of days from 1 to 9999' })
      .transform(Number)
      .default(30),
    default: '`30`',
    description: 'For how many days the nonce of a signed request is remembered.',
  },
  VPN_NETWORKS: {
    parse: z.string().min(1).optional(),
    default: 'none',
    description:
      'A file that lists networks of VPNs and proxies, for the switch `block_vpn`: one address or ' +
      'network in CIDR form on each line, or a MaxMind Anonymous-IP database. The file is read again ' +
      'when it changes.',
  },
  BROKER_URL: {
    parse: z
      .url({ protocol: /^mqtts?$/, hostname: /.*/, error: 'must be an mqtt:// or mqtts:// address' })
      .optional(),
    default: 'embedded',
    description:
      'An MQTT 5 broker to which every event is published as well, for your own consumers. Clients that ' +
      'follow events at a node do not need it.',
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
      'The port of `HOST` on which clients can follow events by MQTT over TCP, without TLS; `0` picks a ' +
      'free one. MQTT over WebSocket is always available at `/mqtt`.',
  },
  MAX_EVENT_CLIENTS: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,5}$/, { error: 'must be a whole number from 1 to 999999' })
      .transform(Number)
      .default(10_000),
    default: '`10000`',
    description:
      'How many clients can follow events on one node at the same time, by MQTT and server-sent events.',
  },
  EVENT_DAYS: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, { error: 'must be a whole number of days from 1 to 9999' })
      .transform(Number)
      .default(30),
    default: '`30`',
    description: 'For how many days an event is kept, so that consumers can resume where they stopped.',
  },
  FILES_URL: {
    parse: z.url({ protocol: /^s3$/, hostname: /.*/, error: 'must be an s3:// address' }).optional(),
    default: 'the folder `files` in `DATA_DIR`',
    description:
      'An S3-compatible store for hosted files, required for several nodes unless they share ' +
      '`DATA_DIR/files`: `s3://key:secret@host:port/bucket`, with `?region=…` (default `us-east-1`) and ' +
      '`?tls=off` for plain HTTP. A path after the bucket becomes a prefix of all object names. ' +
      'Percent-encode the key and the secret; without them, the AWS SDK looks for credentials on the ' +
      'machine.',
  },
  FILE_MAX_BYTES: {
    parse: fileSize.default(1024 ** 3),
    default: '`1073741824`',
    description: 'The maximum size of a hosted file, in bytes.',
  },
  FILE_QUOTA_BYTES: {
    parse: z
      .string()
      .regex(/^[1-9]\d{0,14}$/, { error: 'must be a whole number of bytes' })
      .transform(Number)
      .default(10 * 1024 ** 3),
    default: '`10737418240`',
    description: 'The maximum total size of all hosted files of one developer, in bytes.',
  },
  WEBHOOK_NETWORKS: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Private addresses and networks in CIDR form, separated by commas, that webhooks and security ' +
      'events can be sent to. By default, only public addresses are allowed.',
  },
  SMTP_URL: {
    parse: z
      .url({ protocol: /^smtps?$/, hostname: /.*/, error: 'must be an smtp:// or smtps:// address' })
      .optional(),
    default: 'none: mails are written to `DATA_DIR/mail` and announced in the log',
    description:
      'The server that sends mail: `smtp://user:password@host:port`, which upgrades to TLS if the server ' +
      'offers STARTTLS, or `smtps://…` for TLS from the start. The default ports are 587 and 465. ' +
      'Percent-encode the user and the password; they are sent only over TLS, except to this machine ' +
      'itself.',
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
      'The sender of mails: `address` or `Name <address>`. If the host of `WEB_URL` is an IP address, ' +
      'the default is an address at `localhost`.',
  },
  AGENT_ISSUERS: {
    parse: agentIssuers.default([]),
    default: 'none: registration by assertion is off',
    description:
      'The issuers of ID-JAGs that are trusted to identify the user of an agent, separated by commas. ' +
      'Agents can register with their assertions, and an account is created for the user that an ' +
      'assertion names. The keys of an issuer are at `{issuer}/.well-known/jwks.json`. For keys at ' +
      'another address, or to accept only some clients, use a JSON array: `[{"issuer": "https://…", ' +
      '"jwks_uri": "https://…", "client_ids": ["…"]}]`.',
  },
  AGENT_ISSUER_NETWORKS: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Private addresses and networks in CIDR form, separated by commas, from which the keys of ' +
      '`AGENT_ISSUERS` can be fetched.',
  },
  TRUSTED_CLIENTS: {
    parse: clientIds.default([]),
    default: 'none',
    description:
      'OAuth clients that you trust, by their `client_id`, separated by commas. The consent page shows ' +
      'no warning for them, and errors redirect to them at once.',
  },
  CLIENT_ID_NETWORKS: {
    parse: networks.default([]),
    default: 'none',
    description:
      'Private addresses and networks in CIDR form, separated by commas, from which metadata documents ' +
      'of OAuth clients (a `client_id` that is a URL) can be fetched. Any visitor can cause such a ' +
      'request, so list only addresses that every visitor may reach.',
  },
  ADMIN_TOKEN: {
    parse: z
      .string()
      .transform((text) => text.split(',').map((token) => token.trim()))
      .refine((tokens) => tokens.every((token) => /^[A-Za-z0-9\-._~+/]{32,}=*$/.test(token)), {
        error:
          'must be at least 32 characters of a bearer token (openssl rand -hex 32), or several separated by commas',
      })
      .optional(),
    default: 'generated into `DATA_DIR/admin.token` with the embedded database, otherwise none',
    description:
      "The bearer token of the administrator's operations: plans, invoices, refunds. To rotate the " +
      'token, list several, separated by commas.',
  },
  STRIPE_SECRET_KEY: {
    parse: z
      .string()
      .regex(/^(sk|rk)_(test|live)_\w+$/, {
        error: 'must be a secret or restricted key of Stripe (sk_… or rk_…)',
      })
      .optional(),
    default: 'none: the embedded test processor',
    description:
      'The secret key of the Stripe account that receives the payments. Without it, payments go through ' +
      'the embedded test processor: no money moves, and a test card pays for everything.',
  },
  STRIPE_WEBHOOK_SECRET: {
    parse: z
      .string()
      .transform((text) => text.split(',').map((secret) => secret.trim()))
      .refine((secrets) => secrets.every((secret) => /^whsec_\S+$/.test(secret)), {
        error:
          'must be the signing secret of a Stripe webhook endpoint (whsec_…), or several separated by commas',
      })
      .optional(),
    default: 'none; required with `STRIPE_SECRET_KEY`',
    description:
      'The signing secret of the Stripe webhook endpoint `{BASE_URL}/api/v2/payments/webhook`. To rotate ' +
      'the secret, list several, separated by commas.',
  },
  STRIPE_API_URL: {
    parse: httpUrl.optional(),
    default: '`https://api.stripe.com`',
    description: "The address of Stripe's API; change it to use a mock.",
  },
  STRIPE_NETWORK_ID: {
    parse: z
      .string()
      .regex(/^[\w-]{1,100}$/, { error: 'must be a Stripe profile (profile_…)' })
      .optional(),
    default: 'none',
    description:
      'The Stripe profile that payment tokens of machines must be issued for. Without it, machine ' +
      'payments are refused.',
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
      'The bearer token that `/metrics` requires. Without it, `/metrics` is available only on the ' +
      'loopback interface, and not at all if `BASE_URL` or `TRUSTED_PROXIES` is set.',
  },
  LOG_LEVEL: {
    parse: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
    default: '`info`',
    description: `The least severe level that is logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
  },
  DEMO: {
    parse: z.enum(['on', 'off'], { error: 'must be on or off' }).optional(),
    default: '`on` with the embedded database, otherwise `off`',
    description: 'Whether a demo developer and application are created at startup and shown in the terminal.',
  },
} as const satisfies Record<string, Setting>;
