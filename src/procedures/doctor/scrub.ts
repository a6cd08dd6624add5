import { readFileSync } from 'node:fs';
import type { Settings } from '../../config/index.ts';

const MASK = '[secret]';

/** Names of variables whose values are secrets. */
const SECRET_NAME = /pass|secret|key|token|pwd|credential|auth|dsn/i;
/** Shortest secret that is replaced inside a word. A shorter one is replaced only as a whole word. */
const SHORTEST = 6;

/** The end of the name of a field, variable, parameter or argument whose value is a secret. */
const SECRET_WORD =
  '(?:password|passwd|passphrase|secret|secret_?data|token|api[_-]?key|private[_-]?key|master[_-]?key|client_assertion)';
/** The name and what separates it from its value. */
const SECRET_FIELD = `${SECRET_WORD}(?:\\]|%5D)?\\\\?["']?\\s*[=:]\\s*`;

/** Text that is a secret because of its form, and what replaces it. */
const FORMS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  // A JSON Web Token.
  [/\beyJ[\w-]{6,}\.[\w-]{2,}\.[\w-]*/g, MASK],
  [/\b(Bearer|Basic|DPoP)(\s+)[\w.~+/=-]{6,}/gi, `$1$2${MASK}`],
  // The password in an address.
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"']*):[^\s/@"']+@/gi, `$1:${MASK}@`],
  [
    /([?&](?:code|device_code|user_code|state|nonce|session_state|session_code|id_token_hint|tab_id)=)[^\s&"'#]+/gi,
    `$1${MASK}`,
  ],
  [/\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^\n"']+/gi, `$1${MASK}`],
  // An argument, also in a list such as that of a compose file.
  [
    new RegExp(`((?<![\\w-])--[\\w-]*${SECRET_WORD}["']?(?:\\s*,\\s*|\\s+)["']?)[^\\s"',\\]]+`, 'gi'),
    `$1${MASK}`,
  ],
  // The quoted value of a field, with quotes that JSON in a JSON string has escaped, and with its own quotes.
  [new RegExp(`(${SECRET_FIELD}\\\\")(?:(?!\\\\").)+`, 'gi'), `$1${MASK}`],
  [new RegExp(`(${SECRET_FIELD}")(?:\\\\.|[^"\\\\\\n])+`, 'gi'), `$1${MASK}`],
  [new RegExp(`(${SECRET_FIELD}')[^'\\n]+`, 'gi'), `$1${MASK}`],
  // A value without quotes. Punctuation at its end belongs to the text around it.
  [
    new RegExp(
      `(${SECRET_FIELD})(?!\\[secret\\]|null\\b|true\\b|false\\b)[^\\s"'\\\\&]*[^\\s"'\\\\&,;}\\])]`,
      'gi',
    ),
    `$1${MASK}`,
  ],
];

/** Returns every secret of a platform that this process knows. */
export function listSecrets(settings: Settings, env: NodeJS.ProcessEnv): readonly string[] {
  const own = [
    settings.masterKey,
    settings.masterKeyOld,
    settings.administrator.password,
    settings.smoke.clientSecret,
    settings.databasePassword,
  ].flatMap((secret) => (secret === undefined ? [] : [secret.reveal()]));
  const foreign = [...settings.environment, ...Object.entries(env)].flatMap(([name, value]) =>
    value !== undefined && SECRET_NAME.test(name) && !/_FILE$|_COMMAND$/.test(name) ? [value] : [],
  );
  const file = env['IDKIT_BACKUP_PASSPHRASE_FILE'];
  const passphrase = file === undefined || file === '' ? [] : readFirstLine(file);
  return [...new Set([...own, ...foreign, ...passphrase])].filter((secret) => secret !== '');
}

function readFirstLine(file: string): readonly string[] {
  try {
    return [readFileSync(file, 'utf8').split(/\r?\n/)[0] ?? ''];
  } catch {
    // A file that cannot be read has no passphrase that a log could contain because of it.
    return [];
  }
}

/** Returns a function that replaces secrets in a text: the given ones in every encoding, and all that look like one. */
export function openScrubber(secrets: readonly string[]): (text: string) => string {
  const encoded = [...new Set(secrets.flatMap(encodings))].sort((one, other) => other.length - one.length);
  const patterns = encoded.map((text) => new RegExp(textPattern(text), 'g'));
  return (text) => {
    let clean = text;
    for (const pattern of patterns) clean = clean.replace(pattern, MASK);
    for (const [pattern, replacement] of FORMS) clean = clean.replace(pattern, replacement);
    return clean;
  };
}

/** Returns the forms in which a log, an address or a file can contain a secret. */
function encodings(secret: string): readonly string[] {
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams({ s: secret }).toString().slice(2);
  const bytes = Buffer.from(secret, 'utf8');
  const json = JSON.stringify(secret).slice(1, -1);
  const long =
    secret.length < SHORTEST
      ? []
      : [bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')];
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    percent,
    percent.replace(/%../g, (code) => code.toLowerCase()),
    encodeURIComponent(percent),
    encodeURI(secret),
    form,
    form.replace(/%../g, (code) => code.toLowerCase()),
    secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
    ...long,
    ...long.map((text) => text.replace(/=+$/, '')),
    ...long.map((text) => encodeURIComponent(text)),
  ].filter((text) => text !== '');
}

function textPattern(text: string): string {
  const literal = text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
  return text.length < SHORTEST ? `(?<![\\w])${literal}(?![\\w])` : literal;
}
