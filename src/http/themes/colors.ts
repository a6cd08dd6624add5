/** A colour as red, green and blue, each from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

/** The colours that a theme may set, for light or for dark pages. */
export const COLOR_KEYS = ['accent', 'onAccent', 'background', 'card', 'text'] as const;

export type ColorKey = (typeof COLOR_KEYS)[number];
export type GivenColors = Readonly<Partial<Record<ColorKey, Color>>>;
export type Mode = 'light' | 'dark';

/** The colours of idkit's stylesheet that a theme's colours are compared with. test/http/themes/ compares both. */
export const BASE: Readonly<Record<Mode, Readonly<Record<ColorKey | 'bad', string>>>> = {
  light: {
    accent: '#2450c8',
    onAccent: '#fff',
    background: '#eef1f6',
    card: '#fff',
    text: '#171b23',
    bad: '#b3261e',
  },
  dark: {
    accent: '#8fb0ff',
    onAccent: '#0b1530',
    background: '#0e1116',
    card: '#181c23',
    text: '#eef1f5',
    bad: '#ffb4ab',
  },
};

/** Smallest contrast of a text to its background (WCAG 2.2 §1.4.3). */
const TEXT_CONTRAST = 4.5;
/** Smallest contrast of the edge of a control to its background (WCAG 2.2 §1.4.11). */
const EDGE_CONTRAST = 3;

const WHITE: Color = [255, 255, 255];
const BLACK: Color = [0, 0, 0];

/** Parses `#rgb` or `#rrggbb`. Returns undefined for any other text. */
export function parseColor(text: string): Color | undefined {
  const [, short, long] = /^#(?:([0-9a-f]{3})|([0-9a-f]{6}))$/i.exec(text) ?? [];
  const digits = long ?? short?.replace(/./g, '$&$&');
  if (digits === undefined) return undefined;
  const value = Number.parseInt(digits, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Renders a colour as `#rrggbb`. */
export function renderColor(color: Color): string {
  return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** Returns the contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: Color, other: Color): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((first, second) => second - first);
  return (light! + 0.05) / (dark! + 0.05);
}

function luminance(color: Color): number {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Mixes two colours. @param share the share of the second one, from 0 to 1 */
function mix(one: Color, other: Color, share: number): Color {
  const at = (index: 0 | 1 | 2) => one[index] * (1 - share) + other[index] * share;
  return [at(0), at(1), at(2)];
}

/** A pair of colours with too little contrast. */
export interface WeakPair {
  mode: Mode;
  /** The colour that a designer would change. */
  key: ColorKey;
  /** What readers could not recognize. */
  what: string;
  color: string;
  ground: string;
  contrast: number;
  needed: number;
}

/**
 * Returns the stylesheet of a theme's colours and the pairs with too little contrast. The colours that a theme does not
 * set are derived from those that it sets. If it sets an accent only for light pages, dark pages get a lighter one.
 */
export function renderColors(given: Readonly<Record<Mode, GivenColors>>): {
  style: string;
  weak: readonly WeakPair[];
} {
  const light = complete('light', given.light);
  const darkAccent = given.dark.accent ?? lightened(given.light.accent, given.dark);
  const dark = complete('dark', {
    ...given.dark,
    ...(darkAccent === undefined ? {} : { accent: darkAccent }),
  });
  const lines = (variables: ReadonlyMap<string, Color>) =>
    [...variables].map(([name, color]) => `--${name}:${renderColor(color)}`).join(';');
  return {
    style: [
      light.variables.size > 0 ? `:root{${lines(light.variables)}}` : '',
      dark.variables.size > 0 ? `@media (prefers-color-scheme:dark){:root{${lines(dark.variables)}}}` : '',
    ].join(''),
    weak: [...light.weak, ...dark.weak],
  };
}

/** Returns an accent for dark pages: a light one, mixed with white until it can be read on them. */
function lightened(accent: Color | undefined, dark: GivenColors): Color | undefined {
  if (accent === undefined) return undefined;
  const grounds = [dark.card ?? base('dark', 'card'), dark.background ?? base('dark', 'background')];
  for (let share = 0; share < 1; share += 0.05) {
    const color = mix(accent, WHITE, share);
    if (grounds.every((ground) => contrast(color, ground) >= TEXT_CONTRAST)) return color;
  }
  return WHITE;
}

function base(mode: Mode, key: ColorKey | 'bad'): Color {
  return parseColor(BASE[mode][key])!;
}

function complete(
  mode: Mode,
  given: GivenColors,
): { variables: ReadonlyMap<string, Color>; weak: readonly WeakPair[] } {
  const { accent = base(mode, 'accent'), background = base(mode, 'background') } = given;
  const { card = base(mode, 'card'), text = base(mode, 'text') } = given;
  const onAccent =
    given.onAccent ?? (given.accent === undefined ? base(mode, 'onAccent') : readableOn(accent));
  const variables = new Map<string, Color>();
  if (given.accent !== undefined || given.onAccent !== undefined) {
    variables
      .set('accent', accent)
      .set('on-accent', onAccent)
      .set('strong', hovered(accent, onAccent, mode));
  }
  if (given.background !== undefined) variables.set('ground', background);
  if (given.background !== undefined || given.accent !== undefined)
    variables.set('glow', mix(background, accent, 0.08));
  if (given.card !== undefined) variables.set('card', card);
  const quiet = mix(text, card, 0.3);
  const edge = mix(text, card, 0.45);
  if (given.text !== undefined || given.card !== undefined)
    variables
      .set('text', text)
      .set('quiet', quiet)
      .set('line', mix(text, card, 0.87))
      .set('edge', edge);
  const pairs: [key: ColorKey, what: string, color: Color, ground: Color, needed: number][] = [
    ['onAccent', 'the text of buttons', onAccent, accent, TEXT_CONTRAST],
    ['accent', 'links on the card', accent, card, TEXT_CONTRAST],
    ['accent', 'links below the card', accent, background, TEXT_CONTRAST],
    ['text', 'texts on the card', text, card, TEXT_CONTRAST],
    ['text', 'texts around the card', text, background, TEXT_CONTRAST],
    ['text', 'hints on the card', quiet, card, TEXT_CONTRAST],
    ['text', 'the edges of fields', edge, card, EDGE_CONTRAST],
    ['card', 'errors on the card', base(mode, 'bad'), card, TEXT_CONTRAST],
  ];
  const weak =
    Object.keys(given).length === 0
      ? []
      : pairs.flatMap(([key, what, color, ground, needed]) => {
          const found = contrast(color, ground);
          if (found >= needed) return [];
          return [
            {
              mode,
              key,
              what,
              color: renderColor(color),
              ground: renderColor(ground),
              contrast: found,
              needed,
            },
          ];
        });
  return { variables, weak };
}

/** Returns white or black, whichever is easier to read on a colour. */
function readableOn(color: Color): Color {
  return contrast(WHITE, color) >= contrast(BLACK, color) ? WHITE : BLACK;
}

/** Returns the accent of a control below the pointer. It stays readable. */
function hovered(accent: Color, onAccent: Color, mode: Mode): Color {
  const color = mix(accent, mode === 'light' ? BLACK : WHITE, 0.2);
  return contrast(onAccent, color) >= TEXT_CONTRAST ? color : accent;
}
