import assert from 'node:assert/strict';
import { form } from '../../http/service.ts';
import type { Platform } from './platform.ts';
import type { TestClient } from './realm.ts';

type Fields = Readonly<Record<string, string>>;

/** A JSON response. */
export interface JsonAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: responses have many shapes, and each test checks its own
  json: any;
}

/** Sends a form to the token endpoint, with the client's secret in the header (RFC 6749 §2.3.1). */
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

/** Returns the Basic header of a client, with both parts form-urlencoded (RFC 6749 §2.3.1). */
export function basic({ clientId, secret }: TestClient): string {
  const encode = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}`;
}

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

/** Exchanges a code and returns the tokens. Fails if the service rejects the code. */
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

/** Requests user info with a token in the header. Does not read the body of an error, which is not JSON. */
export async function userInfo({ protocol }: Platform, { access_token: token }: Fields): Promise<JsonAnswer> {
  const answer = await fetch(`${protocol}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  if (answer.status === 200) return jsonOf(answer);
  return { status: answer.status, headers: answer.headers, json: undefined };
}

/** Reads a JSON response. */
export async function jsonOf(answer: Response): Promise<JsonAnswer> {
  const { status, headers } = answer;
  assert.match(headers.get('content-type') ?? '', /^application\/json$/);
  return { status, headers, json: await answer.json() };
}
