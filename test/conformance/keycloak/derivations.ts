import { createPublicKey, verify } from 'node:crypto';
import { findInput, redirectParameter } from './browser.ts';
import type { ExpectedAnswer, RecordedCase } from './cases.ts';

/** The response to a step of a case. */
export interface Answered {
  status: number;
  headers: Headers;
  body: unknown;
}

/** The input of a `derive` step. */
export interface Derivation {
  one: RecordedCase;
  answers: Map<number, Answered>;
  /** The latest response. */
  last: Answered;
  expected: ExpectedAnswer;
  realm: string;
}

type Row = Record<string, unknown>;

const rows = ({ last }: Derivation): Row[] => last.body as Row[];
const object = ({ last }: Derivation): Row => last.body as Row;
const pluck =
  (field: string) =>
  (from: Derivation): unknown =>
    rows(from).map((row) => row[field]);
const named = pluck('name');

/** Returns the fields of the latest response that are also in the recording. */
function pick(from: Derivation): unknown {
  const wanted = from.expected.value as Row;
  return Object.fromEntries(Object.keys(wanted).map((field) => [field, object(from)[field]]));
}

/** Returns the bodies of the JSON responses, in their order. */
function bodies({ answers }: Derivation): Row[] {
  return [...answers.values()].map((answer) => answer.body).filter((body): body is Row => isRow(body));
}

function isRow(body: unknown): body is Row {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

function claims(jwt: unknown): Row {
  return JSON.parse(Buffer.from(String(jwt).split('.')[1] ?? '', 'base64url').toString()) as Row;
}

function header(jwt: unknown): Row {
  return JSON.parse(Buffer.from(String(jwt).split('.')[0] ?? '', 'base64url').toString()) as Row;
}

function event(from: Derivation, type: string): unknown {
  const found = rows(from).find((row) => row['type'] === type);
  return found && { ...found, details: Object.keys((found['details'] ?? {}) as Row).sort() };
}

function adminEvent(from: Derivation, operation: string): unknown {
  const found = rows(from).find((row) => row['operationType'] === operation);
  return (
    found && {
      operationType: operation,
      resourceType: found['resourceType'],
      resourcePath: found['resourcePath'],
      'has representation': 'representation' in found,
      fields: Object.keys(found).sort(),
    }
  );
}

function allDiffer(values: unknown[]): boolean {
  return new Set(values).size === values.length;
}

/** The functions that compute derived values, by patterns for their names in the recording. The first match counts. */
const TABLE: [RegExp, (from: Derivation, match: RegExpExecArray) => unknown][] = [
  [/^realms$/, pluck('realm')],
  [/^clientIds$/, pluck('clientId')],
  [/^(usernames|usernames in order|members|of a client role)$/, pluck('username')],
  [/^types for /, pluck('type')],
  [/^(defaults|defaults afterwards|names|realm roles|realm-management roles|account roles)$/, named],
  [
    /^(names for .*|all|default|optional|of the realm|of the client)$/,
    (from) => {
      const names = rows(from).map((row) => row['name']);
      if (!from.one.id.includes('scopes')) return names;
      return rows(from)
        .filter((row) => row['protocol'] === 'openid-connect')
        .map((row) => row['name']);
    },
  ],
  [/^at least 32 characters$/, (from) => String(object(from)['value']).length >= 32],
  [/^event (\w+)$/, (from, [, type]) => event(from, type ?? '')],
  [/^admin event (\w+)$/, (from, [, operation]) => adminEvent(from, operation ?? '')],
  [
    /^provider, priority, algorithm$/,
    (from) =>
      rows(from).map((row) => {
        const config = row['config'] as Row;
        return [row['providerId'], config['priority'], config['algorithm'] ?? null];
      }),
  ],
  [/^realm and enabled$/, (from) => [object(from)['realm'], object(from)['enabled']]],
  [/^enabled$/, (from) => object(from)['enabled']],
  [/^(composite|composite afterwards)$/, (from) => object(from)['composite']],
  [/^passwordPolicy$/, (from) => object(from)['passwordPolicy']],
  [/^required actions$/, (from) => object(from)['requiredActions']],
  [
    /^holds master and the new realm$/,
    (from) => ['master', from.realm].every((name) => rows(from).some((row) => row['realm'] === name)),
  ],
  [
    /^fields of an entry that are there$/,
    (from) => {
      const entry = rows(from).find((row) => row['realm'] === from.realm) ?? {};
      return (from.expected.value as string[]).filter((field) => field in entry);
    },
  ],
  [/^entry$/, (from) => rows(from).find((row) => row['realm'] === from.realm)],
  [
    /^clientId, public, bearer-only, full scope$/,
    (from) =>
      rows(from).map((row) => [
        row['clientId'],
        row['publicClient'],
        row['bearerOnly'],
        row['fullScopeAllowed'],
      ]),
  ],
  [/^parts$/, (from) => (from.expected.value as string[]).filter((part) => part in object(from))],
  [
    /^use and alg of that key$/,
    (from) => {
      const kid = header(bodies(from).find((body) => body?.['access_token'])?.['access_token'])['kid'];
      const keys = object(from)['keys'] as Row[];
      return keys.filter((key) => key['kid'] === kid).map((key) => [key['use'], key['alg']]);
    },
  ],
  [
    /^algorithm and iterations after the login$/,
    (from) => {
      const data = JSON.parse(String(rows(from)[0]?.['credentialData'])) as Row;
      return [data['algorithm'], data['hashIterations']];
    },
  ],
  [/^credentialData$/, (from) => JSON.parse(String(rows(from)[0]?.['credentialData']))],
  [/^number of sessions$/, (from) => rows(from).length],
  [/^session_state differs$/, (from) => allDiffer(bodies(from).map((body) => body['session_state']))],
  [/^session_state equal$/, (from) => new Set(bodies(from).map((body) => body['session_state'])).size === 1],
  [/^refresh tokens all different$/, (from) => allDiffer(bodies(from).map((body) => body['refresh_token']))],
  [
    /^sid of both is session_state$/,
    (from) =>
      ['access_token', 'id_token'].every(
        (token) => claims(object(from)[token])['sid'] === object(from)['session_state'],
      ),
  ],
  [
    /^sub of both is the user$/,
    (from) => claims(object(from)['access_token'])['sub'] === claims(object(from)['id_token'])['sub'],
  ],
  [
    /^expires_in is exp - iat$/,
    (from) => {
      const token = claims(object(from)['access_token']);
      return Number(token['exp']) - Number(token['iat']) === object(from)['expires_in'];
    },
  ],
  [
    /^exp equal$/,
    (from) => claims(object(from)['access_token'])['exp'] === claims(object(from)['id_token'])['exp'],
  ],
  [
    /^jti differs$/,
    (from) => claims(object(from)['access_token'])['jti'] !== claims(object(from)['id_token'])['jti'],
  ],
  [/^RS256 signature holds$/, (from) => verifies(from)],
  [
    /^bits of the key$/,
    (from) => {
      const key = signingKey(from);
      return createPublicKey({ key: key as never, format: 'jwk' }).asymmetricKeyDetails?.modulusLength;
    },
  ],
  [
    /^fields$/,
    (from) => (Array.isArray(from.expected.value) ? Object.keys(rows(from)[0] ?? {}).sort() : pick(from)),
  ],
  [/^value of the username field$/, (from) => findInput(from.last.body, 'username')],
  [
    /^parts of the code separated by dots$/,
    (from) => redirectParameter(from.last.headers.get('location'), 'code')?.split('.').length,
  ],
  [/^(password|code|offline|client credentials|refresh): (.*)$/, tokenPart],
  [/./, pick],
];

/** The grants of the token responses in the case tokens/identifiers, in their order. */
const GRANTS = ['password', 'code', 'offline', 'client credentials', 'refresh'];

function tokenPart(from: Derivation, [, grant = '', what = '']: RegExpExecArray): unknown {
  const answer = bodies(from).filter((body) => 'access_token' in body)[GRANTS.indexOf(grant)];
  const token = /^jti of (\w+)$/.exec(what)?.[1];
  return token === undefined ? answer?.[what] : claims(answer?.[token])['jti'];
}

function signingKey(from: Derivation): Row | undefined {
  const token = bodies(from).find((body) => body?.['access_token'])?.['access_token'];
  const keys = object(from)['keys'] as Row[];
  return keys.find((key) => key['kid'] === header(token)['kid']);
}

function verifies(from: Derivation): boolean {
  const token = String(bodies(from).find((body) => body?.['access_token'])?.['access_token']);
  const [head, payload, signature] = token.split('.');
  const key = createPublicKey({ key: signingKey(from) as never, format: 'jwk' });
  return verify('sha256', Buffer.from(`${head}.${payload}`), key, Buffer.from(signature ?? '', 'base64url'));
}

/** Computes the value of a `derive` step from the earlier responses. */
export function derive(from: Derivation, what: string): unknown {
  for (const [pattern, compute] of TABLE) {
    const match = pattern.exec(what);
    if (match) return compute(from, match);
  }
  return undefined;
}
