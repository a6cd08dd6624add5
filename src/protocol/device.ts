/** Browsers by what only they write, the more special ones first. */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\b(?:OPR|OPT)\/(\d+)/],
  ['Samsung Internet', /\bSamsungBrowser\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:HeadlessChrome|Chromium|Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari\//],
];

const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Android', /\bAndroid\b/],
  ['Windows', /\bWindows\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['macOS', /\bMac(?:intosh| OS X)\b/],
  ['Linux', /\bLinux\b/],
];

/**
 * A browser and its system in a few words, for example `Firefox 133, Linux`: what people know their devices by, and no
 * more of the header than that. Undefined where neither is known.
 */
export function describeDevice(userAgent: string | undefined): string | undefined {
  if (userAgent === undefined) return undefined;
  const parts: string[] = [];
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    parts.push(`${name} ${version.slice(0, 4)}`);
    break;
  }
  const system = SYSTEMS.find(([, pattern]) => pattern.test(userAgent));
  if (system !== undefined) parts.push(system[0]);
  return parts.length === 0 ? undefined : parts.join(', ');
}
