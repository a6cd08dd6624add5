import { isIP } from 'node:net';
import { z } from 'zod';
import type { SettingName } from './table.ts';

/** A realm or client name that is safe in a path and a header. */
const name = z
  .string()
  .min(1)
  .max(255)
  .refine((text) => !/[\0-\x1f\x7f/\\]/.test(text) && text !== '.' && text !== '..');

const text = z
  .string()
  .min(1)
  .refine((value) => !/[\0\r\n]/.test(value));

const host = z.string().regex(/^[A-Za-z0-9.:_%-]{1,253}$/);
const port = z.int().min(0).max(65_535);
const bytes = z.int().min(1024).max(1_073_741_824);

/** An http(s) URL without credentials, query or fragment; the trailing slash is taken off. */
const url = z.string().transform((value, context) => {
  const parsed = /[\s\0]/.test(value) ? null : URL.parse(value);
  const fine =
    parsed !== null &&
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.username === '' &&
    parsed.password === '' &&
    !value.includes('?') &&
    !value.includes('#');
  if (!fine) {
    context.issues.push({ code: 'custom', message: 'no base URL', input: value });
    return z.NEVER;
  }
  return value.replace(/\/+$/, '');
});

const proxy = z.string().refine((value) => {
  const [address = '', prefix, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
});

const database = z.string().refine((value) => {
  if (value.includes('\0')) return false;
  if (value.startsWith('sqlite:')) return value.length > 'sqlite:'.length;
  if (!/^postgres(ql)?:\/\//.test(value)) return false;
  return !/^postgres(ql)?:\/\/[^/@]*:[^/@]*@/.test(value) && !/[?&]password=/.test(value);
});

/** The one schema of every setting that is not a plain secret. */
export const SETTING_SCHEMAS: Partial<Record<SettingName, z.ZodType>> = {
  runtime: z.enum(['embedded', 'compose']),
  service: z.enum(['idkit', 'keycloak']),
  baseUrl: url.nullable(),
  'listen.host': host,
  'listen.port': port,
  'listen.managementPort': z.union([port, z.literal('off')]).nullable(),
  'listen.managementHost': host,
  'listen.tlsCert': text.nullable(),
  'listen.tlsKey': text.nullable(),
  'listen.drainSeconds': z.number().min(0).max(300).nullable(),
  database,
  trustedProxies: z.array(proxy),
  'admin.protectAdministrators': z.boolean(),
  'realmFiles.remove': z.boolean(),
  'outbound.privateAddresses': z.array(proxy),
  realms: z.array(name),
  'backup.root': text,
  'backup.keepDays': z.int().min(1).max(36_500),
  'backup.keepVersions': z.int().min(1).max(1000),
  'backup.mirror': text.nullable(),
  'smoke.realm': name,
  'smoke.clientId': name,
  applications: z.array(z.strictObject({ name, health: url.optional(), protected: url.optional() })),
  'compose.engine': text.nullable(),
  'compose.project': z.string().regex(/^[a-z0-9][a-z0-9_-]*$/),
  'compose.proxy': text,
  'keycloak.managementUrl': url.nullable(),
  'keycloak.start': text.nullable(),
  'keycloak.stop': text.nullable(),
  'metrics.public': z.boolean(),
  'limits.bodyBytes': bytes,
  'limits.adminBodyBytes': bytes,
  IDKIT_ADMIN_USERNAME: name,
};
