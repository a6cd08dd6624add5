import { isIP } from 'node:net';
import { isAbsolute, resolve } from 'node:path';
import { isJsonObject, nearestName, Secret } from '../../core/index.ts';
import { nextCronTime } from '../schedule/cron.ts';
import { isStatusName, STATUS_NAMES, type StatusName } from './status-names.ts';

/** The result of `read` for an invalid value. */
export const WRONG = Symbol('wrong');

/** The directories against which relative paths are resolved. */
export interface Bases {
  /** The platform directory. */
  dir: string;
  /** The working directory if the value comes from a flag, else the platform directory. */
  place: string;
}

/** The type of a setting's value, with its check. */
export interface Kind<Value> {
  /** Completes the sentence "NAME must be …" in error messages. */
  readonly expected: string;
  /** Returns the effective value, or WRONG. Also reads the setting's default. */
  read(value: unknown, bases: Bases): Value | typeof WRONG;
  /** Converts the text of a flag or variable to the value that YAML would have. Default: the text itself. */
  fromText?(text: string): unknown;
  /** Returns a hint for an invalid value, for example the nearest valid one. */
  hint?(value: unknown): string | undefined;
  /** Set if the value can contain a password. Messages then omit it. */
  readonly hidden?: true;
  /** Returns the effective value as idkit.yaml would contain it. Default: the value itself. */
  show?(value: Value): unknown;
}

const NUMBER = /^\d{1,10}$/;
const numberFrom = (text: string) => (NUMBER.test(text) ? Number(text) : text);

/** A text for which `fits` returns true. */
function text(expected: string, fits: (value: string) => boolean): Kind<string> {
  return { expected, read: (value) => (typeof value === 'string' && fits(value) ? value : WRONG) };
}

const isLine = (value: string) => value !== '' && !/[\0\r\n]/.test(value);

/** A single line of text. */
export const line = (expected: string) => text(expected, isLine);

/** The name of a realm, client or user, restricted to characters that are safe in a path and in a header. */
export const name = (expected: string) =>
  text(
    expected,
    (value) =>
      value.length >= 1 && value.length <= 255 && !/[\0-\x1f\x7f/\\]/.test(value) && !/^\.{1,2}$/.test(value),
  );

/** A text that matches a regular expression. */
export const pattern = (expected: string, form: RegExp) => text(expected, (value) => form.test(value));

export const host = pattern('a host name or an IP address', /^[A-Za-z0-9.:_%-]{1,253}$/);

export const boolean: Kind<boolean> = {
  expected: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : WRONG),
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
};

export function wholeNumber(from: number, to: number): Kind<number> {
  return {
    expected: `a whole number from ${from} to ${to}`,
    read: (value) => (Number.isSafeInteger(value) && isBetween(value, from, to) ? value : WRONG),
    fromText: numberFrom,
  };
}

export function secondsUpTo(to: number): Kind<number> {
  return {
    expected: `a number of seconds from 0 to ${to}`,
    read: (value) => (isBetween(value, 0, to) ? value : WRONG),
    fromText: numberFrom,
  };
}

function isBetween(value: unknown, from: number, to: number): value is number {
  return typeof value === 'number' && value >= from && value <= to;
}

export function oneOf<const Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  return {
    expected: choices.join(' or '),
    read: (value) => choices.find((choice) => choice === value) ?? WRONG,
  };
}

/** Either a value of the given kind, or one fixed word. */
export function orWord<Value, const Word extends string>(kind: Kind<Value>, word: Word): Kind<Value | Word> {
  return {
    ...kind,
    expected: `${kind.expected}, ${word}`,
    read: (value, bases) => (value === word ? word : kind.read(value, bases)),
  };
}

export function orNull<Value>(kind: Kind<Value>): Kind<Value | null> {
  return {
    ...kind,
    expected: `${kind.expected}, or null`,
    read: (value, bases) => (value === null ? null : kind.read(value, bases)),
  };
}

/**
 * The path of a file or directory. Relative paths are resolved. Absolute paths stay unchanged: after a symbolic link,
 * the system and `resolve` interpret `..` differently.
 */
export function path(expected: string): Kind<string> {
  return {
    expected,
    read(value, { place }) {
      if (typeof value !== 'string' || !isLine(value)) return WRONG;
      return isAbsolute(value) ? value : resolve(place, value);
    },
  };
}

/** An http or https URL. The effective value has no trailing slash. */
export const url: Kind<string> = {
  expected: 'an http or https URL without credentials, query or fragment',
  hidden: true,
  read: (value) => (typeof value === 'string' && isBaseUrl(value) ? value.replace(/\/+$/, '') : WRONG),
};

function isBaseUrl(value: string): boolean {
  const parsed = /[\s\0?#]/.test(value) ? null : URL.parse(value);
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) return false;
  return parsed.username === '' && parsed.password === '';
}

function list<Value>(expected: string, kind: Kind<Value>): Kind<readonly Value[]> {
  return {
    expected: `a list of ${expected}`,
    read(value, bases) {
      if (!Array.isArray(value)) return WRONG;
      const values: Value[] = [];
      for (const item of value) {
        const read = kind.read(item, bases);
        if (read === WRONG) return WRONG;
        values.push(read);
      }
      return values;
    },
  };
}

const addressBlock = text('an IP address or CIDR block', (value) => {
  const [address = '', prefix, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
});

export const addressBlocks = list('IP addresses or CIDR blocks', addressBlock);
export const realmNames = list('realm names', name('a realm name'));

/** Files with OpenPGP public keys, or fingerprints of keys. */
export const keyNames = list(
  'files or fingerprints of OpenPGP public keys',
  line('the file or the fingerprint of an OpenPGP public key'),
);

/** The findings of `idkit status` that the operator accepts. */
export const acceptedNames: Kind<readonly StatusName[]> = {
  ...list('names of findings of idkit status', {
    expected: 'the name of a finding of idkit status',
    read: (value) => (isStatusName(value) ? value : WRONG),
  }),
  hint(value) {
    const unknown = Array.isArray(value) ? value.find((name) => !isStatusName(name)) : undefined;
    if (typeof unknown !== 'string') return undefined;
    const near = nearestName(unknown, Object.keys(STATUS_NAMES));
    const quoted = JSON.stringify(unknown.slice(0, 64));
    return near === undefined
      ? `${quoted} is unknown; docs/operate/status.md lists the names`
      : `${quoted} is unknown; did you mean ${near}?`;
  },
};

/** An application that `idkit smoke` checks (`applications` in idkit.yaml). */
export interface Application {
  name: string;
  /** A URL that returns 200 with `{"status":"UP"}` while the application is healthy. */
  health?: string;
  /** A URL that returns 401 without a machine-to-machine token and 200 with one. */
  protected?: string;
}

const applicationName = name('a name');
const application: Kind<Application> = {
  expected: '{ name, health: URL, protected: URL }',
  read(value, bases) {
    if (!isJsonObject(value)) return WRONG;
    const { name: called, ...addresses } = value;
    const read = applicationName.read(called, bases);
    if (read === WRONG) return WRONG;
    const made: Application = { name: read };
    for (const [key, address] of Object.entries(addresses)) {
      const checked = url.read(address, bases);
      if (checked === WRONG || (key !== 'health' && key !== 'protected')) return WRONG;
      made[key] = checked;
    }
    return made;
  },
};

export const applications: Kind<readonly Application[]> = {
  ...list(application.expected, application),
  hidden: true,
};

/** A user with whom a drill logs in to the restored service (`drill.canary` in idkit.yaml). */
export interface Canary {
  realm: string;
  username: string;
}

const canaryName = name('a name');
const canary: Kind<Canary> = {
  expected: '{ realm, username }',
  read(value, bases) {
    if (!isJsonObject(value)) return WRONG;
    const { realm, username, ...others } = value;
    const names = [canaryName.read(realm, bases), canaryName.read(username, bases)] as const;
    if (names[0] === WRONG || names[1] === WRONG || Object.keys(others).length > 0) return WRONG;
    return { realm: names[0], username: names[1] };
  },
};

export const canaries: Kind<readonly Canary[]> = list(canary.expected, canary);

/** The database of the service. */
export type DatabasePlace = { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: string };

/** The database's address. The path of an SQLite file is relative to the platform directory, even in a flag. */
export const database: Kind<DatabasePlace> = {
  expected: 'sqlite:PATH or postgres://user@host/name without a password',
  hidden: true,
  show: (place) => (place.kind === 'sqlite' ? `sqlite:${place.file}` : place.url),
  read(value, { dir }) {
    if (typeof value !== 'string' || value.includes('\0')) return WRONG;
    if (value.startsWith('sqlite:')) {
      const file = value.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
      return file === '' ? WRONG : { kind: 'sqlite', file: resolve(dir, file) };
    }
    if (!/^postgres(ql)?:\/\//.test(value)) return WRONG;
    const holdsPassword = /^postgres(ql)?:\/\/[^/@]*:[^/@]*@/.test(value) || /[?&]password=/.test(value);
    return holdsPassword ? WRONG : { kind: 'postgres', url: value };
  },
};

/** A secret, or undefined if it is not set. */
export const secret: Kind<Secret | undefined> = {
  expected: 'one line without a NUL byte',
  hidden: true,
  show: (value) => value?.toString() ?? null,
  read(value) {
    if (value === undefined) return undefined;
    return typeof value === 'string' && !/[\0\r\n]/.test(value) ? new Secret(value) : WRONG;
  },
};

/** A cron expression that matches at least one time. */
export const cronTimes: Kind<string> = {
  ...text('five fields of cron, such as "0 2 * * *"', (value) => nextCronTime(value, 0, 'UTC') !== undefined),
  hint: (value) =>
    typeof value === 'string' && value.trim().split(/\s+/).length === 6
      ? 'the fields are minute, hour, day of month, month and day of week; seconds are not supported'
      : undefined,
};

/** The URL of a monitoring service. It often contains a secret, so it is never shown. */
export const pingUrl: Kind<Secret> = {
  expected: 'an https URL, or an http URL of this machine, without a user name',
  hidden: true,
  show: (value) => value?.toString() ?? null,
  read: (value) => (typeof value === 'string' && isPingUrl(value) ? new Secret(value) : WRONG),
};

function isPingUrl(value: string): boolean {
  const url = /[\s\0]/.test(value) ? null : URL.parse(value.replaceAll('{job}', 'job'));
  if (url === null || url.username !== '' || url.password !== '') return false;
  const isLoopback = /^(127(\.\d+){3}|localhost|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback);
}

/** A program and its arguments. */
export const commandWords: Kind<readonly string[]> = {
  expected: 'a list with a program and its arguments',
  read(value) {
    if (!Array.isArray(value) || value.length === 0 || value[0] === '') return WRONG;
    const isWord = (word: unknown): word is string => typeof word === 'string' && !word.includes('\0');
    return value.every(isWord) ? value : WRONG;
  },
};

/** How many sets stay at the mirror (`backup.mirrorKeep`). Members are named as in restic. */
export interface KeepRule {
  last: number;
  daily: number;
  weekly: number;
  monthly: number;
  yearly: number;
}

const keepCount = wholeNumber(0, 10_000);

/** Members that are not given are 0. */
export const keepRule: Kind<KeepRule> = {
  expected: '{ last, daily, weekly, monthly, yearly } with whole numbers',
  read(value, bases) {
    if (!isJsonObject(value)) return WRONG;
    const rule: KeepRule = { last: 0, daily: 0, weekly: 0, monthly: 0, yearly: 0 };
    for (const [key, count] of Object.entries(value)) {
      const read = keepCount.read(count, bases);
      if (read === WRONG || !(key in rule)) return WRONG;
      rule[key as keyof KeepRule] = read;
    }
    return rule;
  },
};

/**
 * A place for copies: see `parseLocation` of the target room. A relative directory is resolved, everything with a colon before
 * the first slash stays as it is.
 */
export const target: Kind<string> = {
  expected: 'a directory, [user@]host:path, ssh://host/path, s3://bucket/prefix or rclone:remote:path',
  read(value, { place }) {
    if (typeof value !== 'string' || !isLine(value)) return WRONG;
    return isAbsolute(value) || /^[^/]*:/.test(value) ? value : resolve(place, value);
  },
};
