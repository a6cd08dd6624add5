import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorMessage, IdkitError, Secret, systemErrorCode } from '../../core/index.ts';

/** Where a bucket is, and with which keys it is reached. */
export interface S3Account {
  /** The address without a path, such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: URL;
  region: string;
  accessKeyId: string;
  secretAccessKey: Secret;
  sessionToken?: Secret;
  /** Certificates in PEM, which replace those of Node.js. */
  ca?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Section = Readonly<Record<string, string>>;

/** Maximum size in bytes of a file with keys or certificates. */
const MOST_BYTES = 1024 * 1024;

/**
 * Finds the account as the programs of AWS do: the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
 * `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` and `AWS_CA_BUNDLE`, then the profile
 * `AWS_PROFILE` (`default`) of `~/.aws/credentials` and `~/.aws/config`. Roles of instances are not used.
 *
 * @throws IDKIT_SETTING
 */
export async function findAccount(env: Environment): Promise<S3Account> {
  const profile = await readProfile(env);
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || profile['region'] || 'us-east-1';
  if (!/^[a-z0-9-]{1,40}$/i.test(region))
    throw new IdkitError('IDKIT_SETTING', `AWS_REGION is ${JSON.stringify(region)}, which is not a region`);
  const endpoint =
    env['AWS_ENDPOINT_URL_S3'] ||
    env['AWS_ENDPOINT_URL'] ||
    profile['endpoint_url'] ||
    `https://s3.${region}.amazonaws.com`;
  const fromVariables = env['AWS_ACCESS_KEY_ID'] !== undefined && env['AWS_ACCESS_KEY_ID'] !== '';
  const accessKeyId = fromVariables ? env['AWS_ACCESS_KEY_ID'] : profile['aws_access_key_id'];
  const secret = fromVariables ? env['AWS_SECRET_ACCESS_KEY'] : profile['aws_secret_access_key'];
  const token = fromVariables ? env['AWS_SESSION_TOKEN'] : profile['aws_session_token'];
  if (!accessKeyId || !secret) {
    throw new IdkitError('IDKIT_SETTING', 'the keys for S3 are not set', {
      hints: [
        'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or a profile in ~/.aws/credentials',
        'for another provider than AWS, set AWS_ENDPOINT_URL too',
      ],
    });
  }
  const bundle = env['AWS_CA_BUNDLE'];
  return {
    endpoint: parseEndpoint(endpoint),
    region,
    accessKeyId,
    secretAccessKey: new Secret(secret),
    ...(token ? { sessionToken: new Secret(token) } : {}),
    ...(bundle ? { ca: await readText('AWS_CA_BUNDLE', bundle) } : {}),
  };
}

function parseEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = (why: string) => new IdkitError('IDKIT_SETTING', `AWS_ENDPOINT_URL ${why}`);
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw wrong(`is not an http or https address`);
  if (url.username !== '' || url.password !== '') throw wrong('must not contain a user or a password');
  if (url.search !== '' || url.hash !== '') throw wrong('must not have a query or a fragment');
  return url;
}

/** Merges the profile of both files. The credentials file takes precedence. */
async function readProfile(env: Environment): Promise<Section> {
  const name = env['AWS_PROFILE'] || 'default';
  const home = env['HOME'] || homedir();
  const config = env['AWS_CONFIG_FILE'] || join(home, '.aws/config');
  const credentials = env['AWS_SHARED_CREDENTIALS_FILE'] || join(home, '.aws/credentials');
  const fromConfig = parseIni(await readIfAny(config));
  const fromCredentials = parseIni(await readIfAny(credentials));
  const inConfig = fromConfig.get(name === 'default' ? 'default' : `profile ${name}`);
  const found = { ...inConfig, ...fromCredentials.get(name) };
  if (env['AWS_PROFILE'] && inConfig === undefined && fromCredentials.get(name) === undefined)
    throw new IdkitError('IDKIT_SETTING', `neither ${config} nor ${credentials} has the profile ${name}`);
  return found;
}

/** Parses `[section]` and `key = value` lines. Indented lines, which belong to nested settings, are ignored. */
function parseIni(text: string): ReadonlyMap<string, Section> {
  const sections = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const head = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (head !== undefined) {
      section = {};
      sections.set(head, section);
      continue;
    }
    const [, key, value] = /^([A-Za-z0-9_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section !== undefined && key !== undefined && value !== undefined) section[key.toLowerCase()] = value;
  }
  return sections;
}

async function readIfAny(file: string): Promise<string> {
  try {
    return await readText(file, file);
  } catch (error) {
    if (error instanceof IdkitError && systemErrorCode(error.cause) === 'ENOENT') return '';
    throw error;
  }
}

async function readText(what: string, file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > MOST_BYTES) throw new IdkitError('IDKIT_SETTING', `${file} is larger than 1 MiB`);
    return text;
  } catch (error) {
    if (error instanceof IdkitError) throw error;
    throw new IdkitError('IDKIT_SETTING', `${what}: ${errorMessage(error)}`, { cause: error });
  }
}
