import type { Settings } from '../../config/index.ts';
import { type CheckedTheme, checkPlatformThemes } from '../../platform/open.ts';
import { type Judgement, warning } from './judge.ts';

/** The themes of the platform, and a warning for each one that the service does not use. */
export async function findThemes(
  settings: Settings,
): Promise<{ value: readonly CheckedTheme[]; judgements: readonly Judgement[] }> {
  const themes = await checkPlatformThemes(settings);
  return {
    value: themes,
    judgements: themes.flatMap(({ name, usable, errors }) => {
      if (usable) return [];
      const more = errors.length > 1 ? ` and ${errors.length - 1} more` : '';
      return [
        warning(
          'THEME_INVALID',
          `theme ${name} is not used: ${errors[0] ?? 'it cannot be read'}${more}; run idkit config themes`,
        ),
      ];
    }),
  };
}
