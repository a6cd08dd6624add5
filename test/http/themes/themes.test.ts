import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { checkThemes, openThemes } from '../../../src/http/themes/index.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>';

/** Returns the bytes of a PNG's start with the given size in pixels. */
function png(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(33);
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

/** Creates a directory `config` with one theme `acme`. */
function platform(t: TestContext, files: Readonly<Record<string, string | Buffer>>) {
  const root = mkdtempSync(join(tmpdir(), 'idkit-themes-'));
  t.after(() => rmSync(root, { recursive: true }));
  const config = join(root, 'config');
  const theme = join(config, 'themes', 'acme');
  mkdirSync(theme, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(theme, file), content);
  return { root, config, theme };
}

async function problemsOf(t: TestContext, files: Readonly<Record<string, string | Buffer>>) {
  const { problems, theme } = await openThemes(platform(t, files).config).read('acme');
  return { lines: problems.map(({ kind, place, message }) => `${kind} ${place}: ${message}`), theme };
}

const yaml = (text: string) => ({ 'theme.yaml': text });

test('reads the colours, the logos, the texts and the links of a theme', async (t) => {
  const { lines, theme } = await problemsOf(t, {
    'theme.yaml': `
colors:
  light: { accent: "#a4123f", background: "#faf7f2" }
texts:
  en: { loginAccountTitle: Welcome to Acme }
  de: { loginTitle: "{realm} – Anmeldung" }
footer:
  - url: https://acme.example/privacy
    text: { en: Privacy, de: Datenschutz }
  - url: mailto:help@acme.example
    text: Help
`,
    'logo.svg': SVG,
    'logo-dark.png': png(200, 60),
  });
  assert.deepEqual(lines, []);
  assert.match(theme!.style!.content.toString(), /^:root\{--accent:#a4123f;--on-accent:#ffffff;/);
  assert.equal(theme!.logo!.contentType, 'image/svg+xml');
  assert.equal(theme!.darkLogo!.contentType, 'image/png');
  assert.deepEqual(theme!.texts, {
    en: { loginAccountTitle: 'Welcome to Acme' },
    de: { loginTitle: '{realm} – Anmeldung' },
  });
  assert.deepEqual(theme!.footer, [
    { url: 'https://acme.example/privacy', text: { en: 'Privacy', de: 'Datenschutz', default: 'Privacy' } },
    { url: 'mailto:help@acme.example', text: { default: 'Help' } },
  ]);
});

test('an empty theme changes nothing', async (t) => {
  for (const text of ['', '# only a comment\n', 'colors:\ntexts:\nfooter:\n']) {
    const { lines, theme } = await problemsOf(t, yaml(text));
    assert.deepEqual(lines, []);
    assert.deepEqual(theme, { name: 'acme', texts: {}, footer: [] });
  }
});

for (const [what, text, expected] of [
  ['text that is not YAML', 'colors: [', /^error config\/themes\/acme\/theme\.yaml line \d: /],
  ['an unknown key', 'colour: {}', /line 1: unknown key "colour"$/],
  [
    'an unknown colour',
    'colors:\n  light:\n    akzent: "#fff"',
    /line 3: unknown key "colors\.light\.akzent"$/,
  ],
  [
    'a colour by its name',
    'colors: { light: { accent: red } }',
    /colors\.light\.accent must be a colour such as/,
  ],
  [
    'a colour that YAML reads as a comment',
    'colors:\n  light:\n    accent: #fff',
    /must be a colour such as/,
  ],
  [
    'style rules in a colour',
    'colors: { light: { accent: "#fff;}body{display:none" } }',
    /must be a colour such as/,
  ],
  ['an unknown language', 'texts: { xx: {} }', /unknown key "texts\.xx"$/],
  ['an unknown text', 'texts: { en: { loginTitel: x } }', /unknown key "texts\.en\.loginTitel"$/],
  ['a text that is a number', 'texts: { en: { doLogIn: 5 } }', /texts\.en\.doLogIn must be a text$/],
  ['markup', 'texts: { en: { doLogIn: "<b>In</b>" } }', /contains markup, but texts are plain$/],
  ['an unknown placeholder', 'texts: { en: { loginTitle: "{name}" } }', /contains the placeholder \{name\}$/],
  ['a script as a link', 'footer: [{ url: "javascript:alert(1)", text: x }]', /url must begin with https:/],
  ['a link without TLS', 'footer: [{ url: "http://acme.example/", text: x }]', /url must begin with https:/],
  [
    'a link with a user part',
    'footer: [{ url: "https://a@b.example/", text: x }]',
    /url must begin with https:/,
  ],
  [
    'a link without a text',
    'footer: [{ url: "https://acme.example/" }]',
    /footer\[0\] must have url and text$/,
  ],
  ['too many links', `footer: [${'{ url: "https://a.example/", text: x },'.repeat(9)}]`, /has 9 links/],
  ['aliases', 'texts:\n  en: &a { doLogIn: x }\n  de: *a', /line 3: aliases are not allowed$/],
] as const)
  test(`rejects a theme with ${what}, and names the line`, async (t) => {
    const { lines, theme } = await problemsOf(t, yaml(text));
    assert.equal(theme, undefined);
    assert.match(lines.join('\n'), expected);
  });

test('reports all errors of a theme at once', async (t) => {
  const { lines } = await problemsOf(t, {
    'theme.yaml': 'colors: { light: { accent: red } }\nfooter: [{ url: "x", text: y }]\n',
    'logo.png': 'no image',
  });
  assert.equal(lines.length, 3, lines.join('\n'));
});

test('warns about weak colours and unused files, and uses the theme', async (t) => {
  const { lines, theme } = await problemsOf(t, {
    'theme.yaml': 'colors: { light: { accent: "#ffcc00" } }\n',
    'logo.jpg': 'x',
  });
  assert.ok(theme !== undefined);
  assert.match(
    lines.join('\n'),
    /warning config\/themes\/acme\/theme\.yaml: colors\.light\.accent: links on the card \(#ffcc00 on #ffffff\) have a contrast of 1\.5:1, but readers need 4\.5:1/,
  );
  assert.match(lines.join('\n'), /warning config\/themes\/acme\/logo\.jpg: is not used/);
});

for (const [what, file, content, expected] of [
  ['text with the name of a PNG', 'logo.png', 'x'.repeat(100), /logo\.png: is not a PNG image$/],
  ['a PNG of 5000 pixels', 'logo.png', png(5000, 10), /logo\.png: is 5000 × 10 pixels large/],
  ['a page with the name of an SVG', 'logo.svg', '<html></html>', /logo\.svg: is not an SVG image$/],
  ['an SVG without its namespace', 'logo.svg', '<svg></svg>', /logo\.svg: lacks xmlns=/],
  [
    'an SVG with entities',
    'logo.svg',
    `<!DOCTYPE svg [<!ENTITY a "b">]>${SVG}`,
    /logo\.svg: has a document type declaration/,
  ],
  [
    'a logo that is too large',
    'logo.svg',
    SVG + ' '.repeat(262_144),
    /logo\.svg: has \d+ bytes, but at most 262144/,
  ],
] as const)
  test(`rejects ${what} as a logo`, async (t) => {
    const { lines, theme } = await problemsOf(t, { [file]: content });
    assert.equal(theme, undefined);
    assert.match(lines.join('\n'), expected);
  });

test('warns about a logo with a script, because browsers do not run it', async (t) => {
  const { lines, theme } = await problemsOf(t, {
    'logo.svg': SVG.replace('<path', '<script>alert(1)</script><path'),
  });
  assert.ok(theme?.logo !== undefined);
  assert.match(lines.join('\n'), /^warning .*logo\.svg: contains a script/);
});

test('never reads a file outside config/, through a name or a link, and never waits for a FIFO', async (t) => {
  const { root, config, theme } = platform(t, {});
  writeFileSync(join(root, 'secret.yaml'), 'texts: { en: { doLogIn: secret } }');
  const themes = openThemes(config);
  for (const name of ['..', '../..', 'acme/../..', '.', '', '/etc', 'acme\0', '.hidden', 'a'.repeat(65)])
    assert.equal(await themes.find(name), undefined, name);
  symlinkSync(join(root, 'secret.yaml'), join(theme, 'theme.yaml'));
  const linked = await themes.read('acme');
  assert.match(linked.problems.map(({ message }) => message).join(), /leaves config\//);
  rmSync(join(theme, 'theme.yaml'));
  mkdirSync(join(root, 'outside'));
  writeFileSync(join(root, 'outside', 'theme.yaml'), '');
  symlinkSync(join(root, 'outside'), join(config, 'themes', 'away'));
  writeFileSync(join(root, 'outside', 'private-name'), '');
  const away = await themes.read('away');
  assert.equal(away.theme, undefined);
  assert.deepEqual(
    away.problems.map(({ message }) => message),
    ['is a link that leaves config/, so it is not read'],
    'names of files outside config/ are not listed',
  );
  writeFileSync(join(config, 'shared.svg'), SVG);
  symlinkSync('../../shared.svg', join(theme, 'logo.svg'));
  assert.ok((await themes.read('acme')).theme?.logo, 'a link that stays inside config/ is followed');
  execFileSync('mkfifo', [join(theme, 'theme.yaml')]);
  assert.match((await themes.read('acme')).problems.map(({ message }) => message).join(), /is not a file/);
});

test('uses a changed theme at once, and logs each problem once', async (t) => {
  const { config, theme } = platform(t, yaml('texts: { en: { doLogIn: One } }'));
  const log: string[] = [];
  const note = (_fields: unknown, message: string) => log.push(message);
  const themes = openThemes(config, { info: note, warn: note, error: note });
  const label = async () => (await themes.find('acme'))?.texts['en']?.['doLogIn'];
  assert.equal(await label(), 'One');
  writeFileSync(join(theme, 'theme.yaml'), 'texts: { en: { doLogIn: Second } }');
  assert.equal(await label(), 'Second');
  writeFileSync(join(theme, 'theme.yaml'), 'texts: { en: { doLogIn: [] } }');
  assert.equal(await label(), undefined);
  assert.equal(await label(), undefined);
  assert.deepEqual(log, [
    "theme acme has an error, so its realms have idkit's look: config/themes/acme/theme.yaml line 1: texts.en.doLogIn must be a text",
  ]);
  rmSync(theme, { recursive: true });
  assert.equal(await label(), undefined);
  assert.equal(await label(), undefined);
  assert.equal(log.length, 2);
  assert.match(log[1]!, /^theme "acme" does not exist in config\/themes/);
  mkdirSync(theme);
  writeFileSync(join(theme, 'theme.yaml'), 'texts: { en: { doLogIn: Back } }');
  assert.equal(await label(), 'Back');
});

test('lists every theme with what it has and what is wrong', async (t) => {
  const { config } = platform(t, {
    'theme.yaml': 'footer: [{ url: "https://a.example/", text: x }]',
    'logo.svg': SVG,
  });
  mkdirSync(join(config, 'themes', 'broken'));
  writeFileSync(join(config, 'themes', 'broken', 'theme.yaml'), 'x: y');
  const reports = await checkThemes(config);
  assert.deepEqual(
    reports.map(({ name, usable, has }) => [name, usable, has]),
    [
      ['acme', true, ['logo', 'footer']],
      ['broken', false, []],
    ],
  );
  assert.deepEqual(await checkThemes(join(config, 'none')), []);
});
