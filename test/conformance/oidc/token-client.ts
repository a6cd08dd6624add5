import assert from 'node:assert/strict';
import { form } from '../../http/service.ts';
import type { Platform } from './platform.ts';
import type { TestClient } from './realm.ts';

type Fields = Readonly<Record<string, string>>;

/** What an endpoint answered in JSON. */
export interface JsonAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each looked at by its test
  json: any;
}

/** Sends a form to the token endpoint as that client, its secret in the header (RFC 6749 §2.3.1). */
export async function askForTokens(
  { protocol }: Platform,
  client: TestClient,
  fields: Fields,
): Promise<JsonAnswer> {
  const init = form(fields);
  const authorization = basic(client);
  const answer = await fetch(`${protocol}/token`, { ...init, headers: { ...init.headers, authorization } });
  return jsonOf(answer);
}

/** The header of a client; both parts are form-urlencoded first (RFC 6749 §2.3.1). */
export function basic({ clientId, secret }: TestClient): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}`;
}

/** Exchanges a code. */
export function exchange(
  platform: Platform,
  client: TestClient,
  { code = '' }: Fields,
  more: Fields = {},
): Promise<JsonAnswer> {
  return askForTokens(platform, client, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    ...more,
  });
}

/** Exchanges a code that is good. */
export async function tokensOf(
  platform: Platform,
  client: TestClient,
  fields: Fields,
  more: Fields = {},
): Promise<Fields> {
  const { status, json } = await exchange(platform, client, fields, more);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

/** User info by a token in the header; a refusal has no JSON. */
export async function userInfo({ protocol }: Platform, { access_token: token }: Fields): Promise<JsonAnswer> {
  const answer = await fetch(`${protocol}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  if (answer.status === 200) return jsonOf(answer);
  return { status: answer.status, headers: answer.headers, json: undefined };
}

/** The answer of an endpoint that speaks JSON alone. */
export async function jsonOf(answer: Response): Promise<JsonAnswer> {
  const { status, headers } = answer;
  assert.match(headers.get('content-type') ?? '', /^application\/json$/);
  return { status, headers, json: await answer.json() };
}
