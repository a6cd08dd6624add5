import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A recorded case of Keycloak 26, in the format of test/fixtures/keycloak/recorded/README.md. */
export interface RecordedCase {
  area: string;
  id: string;
  title: string;
  source: string;
  expected: 'keycloak' | 'idkit';
  informative?: boolean;
  realm?: {
    realm?: RealmFixture;
    realm2?: RealmFixture;
    added?: Record<string, unknown>[];
  };
  steps: Step[];
}

/** A realm that a case needs. */
export interface RealmFixture {
  settings?: Record<string, unknown>;
  clients?: (string | [string, Record<string, unknown>])[];
  users?: (string | [string, Record<string, unknown>])[];
  roles?: (string | [string, Record<string, unknown>])[];
}

export interface Step {
  n: number;
  request: {
    method?: string;
    path?: string;
    params?: Record<string, unknown>;
    form?: Record<string, unknown>;
    json?: unknown;
    body?: string;
    headers?: Record<string, string>;
    as?: 'administrator';
    cookies?: 'kept';
    decode?: string;
    called?: string;
    derive?: string;
    'wait seconds'?: number;
  };
  answer?: ExpectedAnswer;
  given?: number;
  only_named_parts_count?: boolean;
}

export interface ExpectedAnswer {
  status?: number;
  headers?: Record<string, unknown>;
  body?: unknown;
  page?: { hooks: string[] };
  header?: unknown;
  claims?: unknown;
  value?: unknown;
}

/** The clients, users and roles of the standard realm, which most cases share. */
export interface Fixtures {
  'password of every user': string;
  'settings of every realm unless a case says otherwise': Record<string, unknown>;
  'realm roles': { name: string }[];
  'client roles': Record<string, string[]>;
  clients: Record<string, Record<string, unknown>>;
  users: Record<string, Record<string, unknown>>;
  'roles of service accounts': Record<string, string[]>;
}

const directory = new URL('../../fixtures/keycloak/recorded/', import.meta.url).pathname;

/** Reads the fixtures of the standard realm. */
export function readFixtures(): Fixtures {
  return JSON.parse(readFileSync(join(directory, 'fixtures.json'), 'utf8')) as Fixtures;
}

/** Reads every recorded case, in the order of the files. */
export function readCases(): RecordedCase[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json') && name !== 'fixtures.json')
    .sort()
    .flatMap((name) => {
      const file = JSON.parse(readFileSync(join(directory, name), 'utf8')) as { cases: RecordedCase[] };
      return file.cases.map((one) => ({ ...one, area: name.slice(0, -'.json'.length) }));
    });
}

/** Returns the part of the service that a case needs but idkit does not have, or undefined. */
export function needsLaterPart(one: RecordedCase): string | undefined {
  for (const { request } of one.steps) {
    const path = request.path ?? '';
    if (/\/auth\/device|\/ext\/par|\/ext\/ciba|clients-registrations|3p-cookies/.test(path)) {
      return 'further endpoints';
    }
    const grant = String(request.form?.['grant_type'] ?? '');
    if (/device_code|token-exchange|jwt-bearer|ciba|uma-ticket/.test(grant)) {
      return `grant ${grant}`;
    }
  }
  return undefined;
}
