/**
 * The parsed password policy of a realm (docs/keycloak/login.md#password-policy). If a field is absent, the policy does
 * not contain that rule.
 */
export interface PasswordPolicy {
  length?: number;
  maxLength?: number;
  digits?: number;
  lowerCase?: number;
  upperCase?: number;
  specialChars?: number;
  notUsername?: true;
  notContainsUsername?: true;
  notEmail?: true;
  /** Java regular expressions, each of which must match the whole password. */
  regexPatterns: readonly string[];
  /** Number of previous passwords that must not be reused. The caller compares the hashes. */
  passwordHistory?: number;
  /** Number of days after which a password must be changed. The caller checks the credential's date. */
  forceExpiredPasswordChange?: number;
  hashAlgorithm?: string;
  hashIterations?: number;
  /** All other entries, for example `passwordBlacklist`. idkit does not enforce them. */
  unknown: readonly string[];
}

/** Entries with a number, and their defaults in Keycloak 26. */
const NUMBERS = {
  length: 8,
  maxLength: 64,
  digits: 1,
  lowerCase: 1,
  upperCase: 1,
  specialChars: 1,
  passwordHistory: 3,
  forceExpiredPasswordChange: 365,
  hashIterations: undefined,
} as const;

/** Entries that are not about the content of a password. They are enforced elsewhere or need no check. */
const NOT_ABOUT_CONTENT = new Set(['maxAuthAge', 'recoveryCodesWarningThreshold']);

const FLAGS = new Set(['notUsername', 'notContainsUsername', 'notEmail'] as const);

/** Parses a policy such as `length(8) and digits(1) and notUsername`. An absent or empty policy allows everything. */
export function parsePasswordPolicy(text: string | undefined): PasswordPolicy {
  const regexPatterns: string[] = [];
  const unknown: string[] = [];
  const found: Record<string, number | string | true> = {};
  for (const entry of (text ?? '').split(' and ')) {
    const [, name = '', argument] = /^\s*([A-Za-z]+)\s*(?:\((.*)\))?\s*$/s.exec(entry) ?? [];
    if (entry.trim() === '' || NOT_ABOUT_CONTENT.has(name)) continue;
    if (isFlag(name)) found[name] = true;
    else if (name === 'regexPattern' && argument) regexPatterns.push(argument);
    else if (name === 'hashAlgorithm' && argument) found[name] = argument;
    else if (Object.hasOwn(NUMBERS, name)) {
      const number = wholeNumber(argument) ?? NUMBERS[name as keyof typeof NUMBERS];
      if (number !== undefined) found[name] = number;
    } else unknown.push(entry.trim());
  }
  return { ...found, regexPatterns, unknown } as PasswordPolicy;
}

/** The reason why a password is rejected: Keycloak's message key, its parameters and the English text. */
export interface PasswordFault {
  key: string;
  params: readonly (number | string)[];
  message: string;
}

/**
 * Maximum length of a password in bytes. A longer one would not be more secure, and would occupy memory while it waits
 * to be hashed.
 */
export const MOST_PASSWORD_BYTES = 1024;

/** Reports whether a password in UTF-8 exceeds `MOST_PASSWORD_BYTES`. */
export function isPasswordTooLong(password: string): boolean {
  return (
    password.length > MOST_PASSWORD_BYTES || new TextEncoder().encode(password).length > MOST_PASSWORD_BYTES
  );
}

/** A new password, and the user who chose it. */
export interface PasswordCandidate {
  password: string;
  username: string;
  email?: string;
}

/**
 * Lists every rule of the policy that the password violates, in Keycloak's wording.
 *
 * @param matches reports whether a pattern matches the whole password; it must return even if the pattern is slow or
 * invalid
 */
export function checkPassword(
  policy: PasswordPolicy,
  { password, username, email }: PasswordCandidate,
  matches: (pattern: string, password: string) => boolean,
): readonly PasswordFault[] {
  const faults: PasswordFault[] = [];
  const refuse = (name: keyof typeof MESSAGES, ...params: (number | string)[]): void => {
    faults.push(passwordFault(name, ...params));
  };
  if (isPasswordTooLong(password)) return [passwordFault('MaxLength', MOST_PASSWORD_BYTES)];
  const { length, maxLength, digits, lowerCase, upperCase, specialChars } = policy;
  if (length !== undefined && password.length < length) refuse('MinLength', length);
  if (maxLength !== undefined && password.length > maxLength) refuse('MaxLength', maxLength);
  const atLeast = (least: number | undefined, kind: RegExp, name: keyof typeof MESSAGES) => {
    if (least !== undefined && (password.match(kind)?.length ?? 0) < least) refuse(name, least);
  };
  atLeast(digits, /\p{Nd}/gu, 'MinDigits');
  atLeast(lowerCase, /\p{Ll}/gu, 'MinLowerCaseChars');
  atLeast(upperCase, /\p{Lu}/gu, 'MinUpperCaseChars');
  atLeast(specialChars, /[^\p{L}\p{Nd}]/gu, 'MinSpecialChars');
  const lower = password.toLowerCase();
  const user = username.toLowerCase();
  if (policy.notUsername && lower === user) refuse('NotUsername');
  if (policy.notContainsUsername && user !== '' && lower.includes(user)) refuse('NotContainsUsername');
  if (policy.notEmail && email !== undefined && lower === email.toLowerCase()) refuse('NotEmail');
  for (const pattern of policy.regexPatterns) {
    if (!matches(pattern, password)) refuse('RegexPattern', pattern);
  }
  return faults;
}

/** A rule about the content of a password: Keycloak's message key and its parameters. */
export type PasswordRule = Pick<PasswordFault, 'key' | 'params'>;

/** Lists the rules of a policy that a user can follow, in the order in which `checkPassword` checks them. */
export function listPasswordRules(policy: PasswordPolicy): readonly PasswordRule[] {
  const rules: PasswordRule[] = [];
  const add = (name: keyof typeof MESSAGES, ...params: (number | string)[]): void => {
    rules.push({ key: keyOf(name), params });
  };
  const number = (name: keyof typeof MESSAGES, value: number | undefined): void => {
    if (value !== undefined && value > 0) add(name, value);
  };
  number('MinLength', policy.length);
  number('MaxLength', policy.maxLength);
  number('MinDigits', policy.digits);
  number('MinLowerCaseChars', policy.lowerCase);
  number('MinUpperCaseChars', policy.upperCase);
  number('MinSpecialChars', policy.specialChars);
  if (policy.notContainsUsername) add('NotContainsUsername');
  else if (policy.notUsername) add('NotUsername');
  if (policy.notEmail) add('NotEmail');
  // One line for all patterns, because users cannot read them.
  if (policy.regexPatterns.length > 0) add('RegexPattern');
  number('History', policy.passwordHistory);
  return rules;
}

/** Builds the fault for a rule, for example `History` with the number of previous passwords. */
export function passwordFault(
  name: keyof typeof MESSAGES,
  ...params: readonly (number | string)[]
): PasswordFault {
  const message = MESSAGES[name].replace('{0}', () => String(params[0] ?? ''));
  return { key: keyOf(name), params, message };
}

function keyOf(name: keyof typeof MESSAGES): string {
  return `invalidPassword${name}Message`;
}

const MESSAGES = {
  MinLength: 'Invalid password: minimum length {0}.',
  MaxLength: 'Invalid password: maximum length {0}.',
  MinDigits: 'Invalid password: must contain at least {0} numerical digits.',
  MinLowerCaseChars: 'Invalid password: must contain at least {0} lower case characters.',
  MinUpperCaseChars: 'Invalid password: must contain at least {0} upper case characters.',
  MinSpecialChars: 'Invalid password: must contain at least {0} special characters.',
  NotUsername: 'Invalid password: must not be equal to the username.',
  NotContainsUsername: 'Invalid password: Can not contain the username.',
  NotEmail: 'Invalid password: must not be equal to the email.',
  RegexPattern: 'Invalid password: fails to match regex pattern(s).',
  History: 'Invalid password: must not be equal to any of last {0} passwords.',
} as const;

function isFlag(name: string): name is 'notUsername' | 'notContainsUsername' | 'notEmail' {
  return (FLAGS as ReadonlySet<string>).has(name);
}

function wholeNumber(argument: string | undefined): number | undefined {
  return argument !== undefined && /^\s*\d{1,9}\s*$/.test(argument) ? Number(argument) : undefined;
}
