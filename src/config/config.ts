import type { z } from 'zod';
import type { LOG_LEVELS } from '../platform/logger.ts';
import type { Mailbox } from '../platform/mail/mailbox.ts';
import type { StripeSettings } from '../platform/payments/index.ts';
import { StartupError } from '../platform/startup-error.ts';
import { settings } from './settings.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string | undefined;
  /** The direct address behind a pooler; undefined without one. */
  readonly databaseDirectUrl: string | undefined;
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
    /** Undefined if every client of the issuer is accepted. */
    readonly clientIds: readonly string[] | undefined;
  }[];
  readonly agentIssuerNetworks: readonly string[];
  readonly trustedClients: readonly string[];
  readonly clientIdNetworks: readonly string[];
  /** Undefined if mails are written to files. */
  readonly smtpUrl: string | undefined;
  /** Undefined for an address at the host of the web pages. */
  readonly mailFrom: Mailbox | undefined;
  /** Several during a rotation; each one is valid. */
  readonly adminTokens: readonly string[] | undefined;
  /** Undefined for the embedded test processor. */
  readonly stripe: StripeSettings | undefined;
  readonly metricsToken: string | undefined;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly demo: boolean;
  /** Whether npm started this process, as a script of package.json. */
  readonly startedByNpm: boolean;
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
  const [databaseUrl, databaseDirectUrl] = [read('DATABASE_URL'), read('DATABASE_DIRECT_URL')];
  if (databaseUrl === undefined && databaseDirectUrl !== undefined) {
    throw new StartupError('DATABASE_URL must be set with DATABASE_DIRECT_URL');
  }
  const [secretKey, webhookSecrets] = [read('STRIPE_SECRET_KEY'), read('STRIPE_WEBHOOK_SECRET')];
  if (secretKey !== undefined && webhookSecrets === undefined) {
    throw new StartupError(
      'STRIPE_WEBHOOK_SECRET must be set with STRIPE_SECRET_KEY: payments are settled by signed webhooks only',
    );
  }
  const [apiUrl, networkId] = [read('STRIPE_API_URL'), read('STRIPE_NETWORK_ID')];
  if (secretKey === undefined && (webhookSecrets ?? apiUrl ?? networkId) !== undefined) {
    throw new StartupError(
      'STRIPE_SECRET_KEY must be set with the other settings of Stripe: without it, payments go through the embedded ' +
        'test processor, and no money moves',
    );
  }
  return Object.freeze({
    host: read('HOST'),
    port: read('PORT'),
    databaseUrl,
    databaseDirectUrl,
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
    trustedClients: read('TRUSTED_CLIENTS'),
    clientIdNetworks: read('CLIENT_ID_NETWORKS'),
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
    startedByNpm: Boolean(environment['npm_lifecycle_event']),
  });
}
