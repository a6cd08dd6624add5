import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stylesheet } from '../../../src/http/pages/resources.ts';
import { BASE, contrast, parseColor, renderColors } from '../../../src/http/themes/colors.ts';

const color = (text: string) => parseColor(text)!;

test('reads colours as #rgb and #rrggbb, and nothing else', () => {
  assert.deepEqual(parseColor('#0af'), [0, 170, 255]);
  assert.deepEqual(parseColor('#00AAFF'), [0, 170, 255]);
  for (const text of ['red', '#12345', '0af', 'rgb(0,0,0)', '#fff}*{color:red', '#ffffffff', ' #fff', ''])
    assert.equal(parseColor(text), undefined, text);
});

test('computes the contrast of WCAG 2.2', () => {
  assert.equal(contrast(color('#fff'), color('#000')), 21);
  assert.equal(contrast(color('#777'), color('#fff')).toFixed(2), '4.48');
  assert.equal(contrast(color('#777'), color('#777')), 1);
});

test('the colours that a theme is compared with are those of the stylesheet', () => {
  const names = {
    accent: 'accent',
    onAccent: 'on-accent',
    background: 'ground',
    card: 'card',
    text: 'text',
    bad: 'bad',
  };
  const [light, dark] = stylesheet.content.split('@media (prefers-color-scheme:dark)');
  for (const [mode, css] of [
    ['light', light!],
    ['dark', dark!],
  ] as const)
    for (const [key, name] of Object.entries(names))
      assert.ok(css.includes(`--${name}:${BASE[mode][key as keyof typeof names]};`), `${mode} ${key}`);
});

test('an accent for light pages gives dark pages a lighter one that can be read', () => {
  for (const accent of ['#a4123f', '#0b6e4f', '#1b1b8f', '#000000']) {
    const { style, weak } = renderColors({ light: { accent: color(accent) }, dark: {} });
    assert.deepEqual(weak, [], accent);
    const [, dark = ''] = /prefers-color-scheme:dark\)\{:root\{--accent:(#[0-9a-f]{6})/.exec(style) ?? [];
    assert.ok(contrast(color(dark), color(BASE.dark.card)) >= 4.5, `${accent} ${dark}`);
  }
});

test('reports every pair of colours with too little contrast, with the colour to change', () => {
  const { weak } = renderColors({ light: { accent: color('#ffcc00') }, dark: { text: color('#555') } });
  const found = weak.map(({ mode, key, what }) => `${mode} ${key}: ${what}`);
  assert.ok(found.includes('light accent: links on the card'));
  assert.ok(found.includes('dark text: texts on the card'));
  // Black text on the yellow button can be read.
  assert.ok(!found.includes('light onAccent: the text of buttons'));
  assert.deepEqual(renderColors({ light: {}, dark: {} }), { style: '', weak: [] });
});
