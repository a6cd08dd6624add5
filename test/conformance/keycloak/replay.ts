import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CookieJar } from '../../http/browser/cookie-jar.ts';
import type { Administrator } from './administrator.ts';
import { findForm, type PageForm, pageHooks, redirectParameter, splitLocation } from './browser.ts';
import type { RecordedCase, Step } from './cases.ts';
import { type Difference, differences } from './compare.ts';
import { type Answered, derive } from './derivations.ts';
import { clientUuid, type MadeRealm } from './realms.ts';

/** The result of replaying a case. `not built`: idkit responded with 501. */
export type Replayed =
  | { outcome: 'same' }
  | { outcome: 'different'; step: number; differences: Difference[] }
  | { outcome: 'not built'; step: number };

/** The service on which a case is replayed, and the realms that the case uses. */
export interface Stage {
  baseUrl: string;
  administrator: Administrator;
  realm: MadeRealm;
  realm2?: MadeRealm;
  /** When the case starts, as Unix time in milliseconds. All its steps use this time. */
  startedAt: number;
}

/** Sends the requests of a case in their order, and compares every response with the recording. */
export async function replay(stage: Stage, one: RecordedCase): Promise<Replayed> {
  const answers = new Map<number, Answered>();
  const jar = new CookieJar();
  for (const step of one.steps) {
    const { request } = step;
    if (request['wait seconds'] !== undefined) {
      await pause(request['wait seconds'] * 1000);
      continue;
    }
    const found = await check(stage, one, step, answers, jar);
    if (found === 'not built') return { outcome: 'not built', step: step.n };
    if (found.length > 0) return { outcome: 'different', step: step.n, differences: found };
  }
  return { outcome: 'same' };
}

async function check(
  stage: Stage,
  one: RecordedCase,
  step: Step,
  answers: Map<number, Answered>,
  jar: CookieJar,
): Promise<Difference[] | 'not built'> {
  const { request, answer } = step;
  const how = { onlyNamed: step.only_named_parts_count === true };
  const last = [...answers.values()].at(-1);
  if (request.derive !== undefined && answer) {
    if (!last) return 'not built';
    const expected = await fillIn(stage, answers, answer.value);
    const value = derive(
      { one, answers, last, expected: { value: expected }, realm: stage.realm.name },
      request.derive,
    );
    return differences(expected, value, how);
  }
  if (request.decode !== undefined && answer) {
    // A bare `<jwt>` in the recording stands for an access token of the administrator.
    const token =
      request.decode === '<jwt>'
        ? await stage.administrator.token()
        : await fillIn(stage, answers, request.decode);
    const [header, claims] = decode(String(token));
    const expected = (await fillIn(stage, answers, {
      header: answer.header,
      claims: answer.claims,
    })) as object;
    return differences(expected, { header, claims }, how);
  }
  const answered = await send(stage, step, answers, jar);
  answers.set(step.n, answered);
  if (answered.status === 501) return 'not built';
  if (!answer) {
    return step.given === answered.status
      ? []
      : [
          {
            path: 'status',
            expected: step.given,
            actual: `${answered.status} ${JSON.stringify(answered.body)}`,
          },
        ];
  }
  return compareAnswer(stage, step, answered, answers, how);
}

async function compareAnswer(
  stage: Stage,
  step: Step,
  answered: Answered,
  answers: Map<number, Answered>,
  how: { onlyNamed: boolean },
): Promise<Difference[]> {
  const { answer } = step;
  const found: Difference[] = [];
  if (answer?.status !== undefined && answer.status !== answered.status) {
    found.push({ path: 'status', expected: answer.status, actual: answered.status });
  }
  if (answer && 'body' in answer) {
    const expected = await fillIn(stage, answers, answer.body);
    found.push(...differences(expected ?? null, answered.body ?? null, how));
  }
  if (answer?.page) {
    found.push(
      ...differences([...answer.page.hooks].sort(), pageHooks(answered.body), how, 'hooks of the page'),
    );
  }
  const headers = (await fillIn(stage, answers, answer?.headers ?? {})) as Record<string, unknown>;
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'location') {
      const location = splitLocation(answered.headers.get('location'));
      found.push(...differences(value, location, how, 'header location'));
      continue;
    }
    if (typeof value !== 'string') continue;
    found.push(...differences(value, headerOf(answered, name), how, `header ${name}`));
  }
  if (answer?.headers && !how.onlyNamed) {
    for (const name of unexpectedHeaders(step, answered)) {
      if (!(name in headers)) {
        found.push({ path: `header ${name}`, expected: undefined, actual: answered.headers.get(name) });
      }
    }
  }
  return found;
}

function headerOf(answered: Answered, name: string): string | undefined {
  const value = answered.headers.get(name) ?? undefined;
  if (name === 'content-type') return value?.split(';')[0]?.trim();
  // Sort the directives of this header, as the recording does.
  return name === 'cache-control' ? value?.split(/,\s*/).sort().join(', ') : value;
}

function unexpectedHeaders(step: Step, answered: Answered): string[] {
  const cors = [...answered.headers.keys()].filter((name) => name.startsWith('access-control-'));
  // Omit the content type of a response without a body, as the recording does.
  const type = answered.body === null ? [] : ['content-type'];
  const origin = Object.keys(step.request.headers ?? {}).some((name) => name.toLowerCase() === 'origin');
  return [...type, 'www-authenticate', 'location', ...(origin ? cors : [])].filter((name) =>
    answered.headers.has(name),
  );
}

async function send(
  stage: Stage,
  step: Step,
  answers: Map<number, Answered>,
  jar: CookieJar,
): Promise<Answered> {
  const { request } = step;
  const fill = (value: unknown) => fillIn(stage, answers, value);
  const page = followPage(request.path ?? '', [...answers.values()].at(-1));
  const url = new URL(page?.action ?? stage.baseUrl + encodePath(String(await fill(request.path))));
  const params = (await fill(request.params ?? {})) as object;
  const pairs = Array.isArray(params) ? (params as [string, unknown][]) : Object.entries(params);
  for (const [name, value] of pairs) {
    for (const each of [value].flat()) url.searchParams.append(name, String(each));
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries((await fill(request.headers ?? {})) as object)) {
    headers.set(name, basic(String(value)));
  }
  if (request.as === 'administrator')
    headers.set('authorization', `Bearer ${await stage.administrator.token()}`);
  const cookies = request.cookies === 'kept' ? jar.header() : undefined;
  if (cookies !== undefined) headers.set('cookie', cookies);
  let body: string | undefined;
  if (request.form !== undefined) {
    const form = (await fill(request.form)) as Record<string, unknown>;
    body = encodeForm(page === undefined ? form : { ...form, ...page.fields });
    if (!headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded');
  } else if (request.json !== undefined) {
    body = JSON.stringify(atThisTime(await fill(request.json)));
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  } else if (request.body !== undefined) {
    body = String(await fill(request.body));
  }
  const response = await fetch(url, {
    method: request.method ?? 'GET',
    headers,
    redirect: 'manual',
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
  });
  if (request.cookies === 'kept') jar.take(response.headers);
  return { status: response.status, headers: response.headers, body: parse(await response.text()) };
}

/** Returns the form or the redirect of the previous response if the path refers to it, otherwise undefined. */
function followPage(path: string, last: Answered | undefined): PageForm | undefined {
  if (path === '{location of the previous answer}')
    return { action: last?.headers.get('location') ?? '', fields: {} };
  const named = /^\{action of form (.+)\}$/.exec(path)?.[1];
  if (named === undefined) return undefined;
  const form = findForm(last?.body, named === 'on the page' ? undefined : named);
  if (form === undefined) throw new Error(`no form ${named} in ${last?.status} ${String(last?.body)}`);
  return form;
}

/** Replaces a recorded `notBefore` with the current time, unless it is 0. */
function atThisTime(json: unknown): unknown {
  const { notBefore } = json as { notBefore?: unknown };
  if (typeof notBefore !== 'number' || notBefore === 0) return json;
  return { ...(json as object), notBefore: Math.floor(Date.now() / 1000) };
}

function encodePath(path: string): string {
  return path.replace(/[^\w\-.~!$&'()*+,;=:@/%?#[\]]/g, (character) => encodeURIComponent(character));
}

/** Encodes the fields of a form. They are an object, or a list of pairs if a field occurs twice. */
function encodeForm(form: Record<string, unknown> | [string, unknown][]): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Array.isArray(form) ? form : Object.entries(form)) {
    for (const each of [value].flat()) fields.append(name, String(each));
  }
  return fields.toString();
}

function parse(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function basic(value: string): string {
  const match = /^(\S+) base64\((.*)\)$/s.exec(value);
  return match ? `${match[1]} ${Buffer.from(match[2] ?? '').toString('base64')}` : value;
}

/** Replaces `{realm}`, `{2.refresh_token}` and other placeholders with their values. */
async function fillIn(stage: Stage, answers: Map<number, Answered>, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((each) => fillIn(stage, answers, each)));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(async ([key, each]) => [
      await fillIn(stage, answers, key),
      await fillIn(stage, answers, each),
    ]);
    return Object.fromEntries(await Promise.all(entries));
  }
  if (typeof value !== 'string' || !value.includes('{')) return value;
  let filled = '';
  let rest = value;
  for (let match = /\$?\{[^{}"]+\}/.exec(rest); match; match = /\$?\{[^{}"]+\}/.exec(rest)) {
    const whole = match[0];
    filled += rest.slice(0, match.index);
    filled += whole.startsWith('$') ? whole : await resolve(stage, answers, whole.slice(1, -1), whole);
    rest = rest.slice(match.index + whole.length);
  }
  return filled + rest;
}

async function resolve(
  stage: Stage,
  answers: Map<number, Answered>,
  name: string,
  whole: string,
): Promise<string> {
  if (name === 'base_url') return stage.baseUrl;
  if (name === 'realm') return stage.realm.name;
  if (name === 'realm2') return stage.realm2?.name ?? whole;
  if (name === 'one-time password of now') return oneTimePassword(stage.startedAt);
  if (name.startsWith('JWT HS256 client_secret_jwt')) return clientAssertion(stage, name);
  if (name.startsWith('client:')) return clientUuid(stage.administrator, stage.realm, name.slice(7));
  if (name.startsWith('user:')) return userId(stage, name.slice(5));
  if (name.startsWith('role:')) return roleId(stage, name.slice(5));
  const field = /^(\d+)(?:\[(\w+)=([^\]]+)\])?\.(\w+)( with .*)?$/.exec(name);
  if (!field) return whole;
  const [, step, key, wanted, part, changed] = field;
  const answered = answers.get(Number(step));
  if (part === 'code') return redirectParameter(answered?.headers.get('location') ?? null, 'code') ?? whole;
  if (part === 'location') return answered?.headers.get('location')?.split('/').at(-1) ?? whole;
  let body = answered?.body as Record<string, unknown> | Record<string, unknown>[] | undefined;
  if (key !== undefined && Array.isArray(body)) body = body.find((one) => one[key] === wanted);
  const value = String((body as Record<string, unknown> | undefined)?.[part ?? ''] ?? whole);
  return changed ? tamper(value) : value;
}

/**
 * Signs an assertion as the client `jwt-client` (RFC 7523 §2.2), with the defect that the placeholder's name describes.
 */
function clientAssertion(stage: Stage, name: string): string {
  const issuer = `${stage.baseUrl}/realms/${stage.realm.name}`;
  const now = Math.floor(Date.now() / 1000);
  const expired = name.includes('expired a minute ago');
  const claims = {
    iss: 'jwt-client',
    sub: name.includes('sub is another client') ? 'another-client' : 'jwt-client',
    aud: name.includes('token endpoint') ? `${issuer}/protocol/openid-connect/token` : issuer,
    jti: randomUUID(),
    iat: expired ? now - 120 : now,
    exp: expired ? now - 60 : now + 60,
  };
  const secret = name.includes('another secret')
    ? 'a-secret-of-someone-else-32-characters'
    : 'jwt-client-secret-of-32-characters-x';
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const input = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

/** Makes the signature invalid by changing a character in its middle. */
function tamper(token: string): string {
  const at = token.lastIndexOf('.') + 10;
  return token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
}

async function userId(stage: Stage, username: string): Promise<string> {
  const known = stage.realm.users.get(username);
  if (known) return known;
  const prefix = 'service-account-';
  if (!username.startsWith(prefix)) throw new Error(`no user ${username} in ${stage.realm.name}`);
  const uuid = await clientUuid(stage.administrator, stage.realm, username.slice(prefix.length));
  const path = `/${stage.realm.name}/clients/${uuid}/service-account-user`;
  return ((await stage.administrator.call('GET', path)).body as { id: string }).id;
}

async function roleId(stage: Stage, name: string): Promise<string> {
  const [clientId, role] = name.includes('/') ? name.split('/') : [undefined, name];
  const path =
    clientId === undefined
      ? `/${stage.realm.name}/roles/${role}`
      : `/${stage.realm.name}/clients/${await clientUuid(stage.administrator, stage.realm, clientId)}/roles/${role}`;
  return ((await stage.administrator.call('GET', path)).body as { id: string }).id;
}

function decode(jwt: string): unknown[] {
  return jwt
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
}

/** Returns the one-time password (RFC 6238) for this time and the secret of the recorded credential. */
function oneTimePassword(now: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(now / 30_000)));
  const digest = createHmac('sha1', '12345678901234567890').update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
