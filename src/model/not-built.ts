import { jsonFields, renderCount } from '../core/index.ts';
import { matchLocale, PAGE_LOCALES } from './page-locales.ts';
import type { RealmSettings, Unenforced } from './realm.ts';

/** Numbers of users who must do something before they can log in. */
export interface WaitingUsers {
  /** Number of enabled users for each required action. */
  requiredActions: ReadonlyMap<string, number>;
  /** Number of enabled users whose e-mail address is not verified. */
  unverified: number;
}

/** The built-in themes of Keycloak. idkit's pages replace them. */
const OWN_THEMES = /^(base|keycloak(\.v\d+)?)?$/;
/** The fields that may name a theme of the platform directory. */
const FILE_THEMES: ReadonlySet<string> = new Set(['loginTheme', 'accountTheme']);

/**
 * Lists the enabled features of a realm that idkit does not have. The realm then offers less than its users expect, but
 * no check is weaker, so idkit still issues tokens. Reports how many users cannot log in without such a feature.
 *
 * @param requiredActions the required actions that the login pages run. Default: does not report required actions.
 */
export function listNotBuilt(
  settings: RealmSettings,
  waiting: WaitingUsers,
  requiredActions?: ReadonlySet<string>,
): readonly Unenforced[] {
  const { kept } = settings;
  return [
    ...feature(kept['registrationAllowed'] === true, '$.registrationAllowed', 'self-registration'),
    ...feature(kept['resetPasswordAllowed'] === true, '$.resetPasswordAllowed', 'forgotten password'),
    ...feature(
      settings.verifyEmail,
      '$.verifyEmail',
      `e-mail verification${keptOut(settings.verifyEmail ? waiting.unverified : 0)}`,
    ),
    ...feature(hasText(jsonFields(kept['smtpServer'])['host']), '$.smtpServer', 'mail server'),
    ...themes(kept),
    ...languages(kept),
    ...(requiredActions === undefined ? [] : missingActions(settings, waiting, requiredActions)),
  ];
}

function feature(on: boolean, path: string, what: string): readonly Unenforced[] {
  return on ? [{ path, what, refuses: false }] : [];
}

function themes(kept: RealmSettings['kept']): readonly Unenforced[] {
  return ['loginTheme', 'accountTheme', 'adminTheme', 'emailTheme'].flatMap((field) => {
    const theme = kept[field];
    return typeof theme !== 'string' || OWN_THEMES.test(theme)
      ? []
      : [
          {
            path: `$.${field}`,
            what: `theme ${theme}${FILE_THEMES.has(field) ? `, unless config/themes/${theme} has it` : ''}`,
            refuses: false,
          },
        ];
  });
}

function languages(kept: RealmSettings['kept']): readonly Unenforced[] {
  const { internationalizationEnabled, supportedLocales } = kept;
  if (internationalizationEnabled !== true || !Array.isArray(supportedLocales)) return [];
  const missing = supportedLocales.filter(
    (one) => typeof one === 'string' && matchLocale(PAGE_LOCALES, one) === undefined,
  );
  return feature(missing.length > 0, '$.supportedLocales', `languages ${missing.join(', ')}`);
}

/**
 * Lists the required actions that idkit does not have, if new users get them by default or existing users have them.
 */
function missingActions(
  { kept }: RealmSettings,
  waiting: WaitingUsers,
  built: ReadonlySet<string>,
): readonly Unenforced[] {
  const providers = Array.isArray(kept['requiredActions']) ? kept['requiredActions'].map(jsonFields) : [];
  const switchedOff = new Set(providers.flatMap(({ alias, enabled }) => (enabled === false ? [alias] : [])));
  const given = new Set(
    providers.flatMap(({ alias, enabled, defaultAction }) =>
      enabled !== false && defaultAction === true && typeof alias === 'string' ? [alias] : [],
    ),
  );
  const names = new Set([...given, ...waiting.requiredActions.keys()]);
  return [...names]
    .filter((name) => !built.has(name) && !switchedOff.has(name))
    .sort()
    .map((name) => ({
      path: '$.requiredActions',
      what: `required action ${name}${given.has(name) ? ' for every new user' : ''}${keptOut(waiting.requiredActions.get(name) ?? 0)}`,
      refuses: false,
    }));
}

function keptOut(users: number): string {
  return users === 0 ? '' : `, which prevents ${renderCount(users, 'user')} from logging in`;
}

function hasText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
