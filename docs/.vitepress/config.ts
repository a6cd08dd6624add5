import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { leadOutside } from './outside.ts';
import { slugOf } from './slug.ts';

// `npm run docs` builds the site into docs/.vitepress/dist and fails on a dead link.

const docs = fileURLToPath(new URL('..', import.meta.url));
const manifest = JSON.parse(readFileSync(`${docs}../package.json`, 'utf8')) as { version: string };

/** The title of a page: its first heading. */
function titleOf(file: string): string {
  return /^# (.+)$/m.exec(readFileSync(`${docs}${file}`, 'utf8'))![1]!;
}

/** One folder as a group of the sidebar; `first` pages come in this order, the others by name. */
function group(text: string, folder: string, first: readonly string[] = [], collapsed = false) {
  const names = readdirSync(`${docs}${folder}`)
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .map((name) => name.slice(0, -3))
    .sort();
  const ordered = [...first, ...names.filter((name) => !first.includes(name))];
  return {
    text,
    link: `/${folder}/`,
    collapsed,
    items: ordered.map((name) => ({ text: titleOf(`${folder}/${name}.md`), link: `/${folder}/${name}` })),
  };
}

const page = (name: string) => ({ text: titleOf(`${name}.md`), link: `/${name}` });

export default defineConfig({
  title: 'idkit',
  description: 'A token service that behaves like Keycloak 26, with a toolkit for its operator',
  lang: 'en',
  cacheDir: '../node_modules/.cache/vitepress',
  lastUpdated: false,
  ignoreDeadLinks: [/^https?:\/\/localhost/, /^\/examples\//],
  buildEnd: ({ outDir }) => {
    cpSync(`${docs}../examples`, `${outDir}/examples`, { recursive: true });
  },
  markdown: {
    config: leadOutside,
    anchor: { slugify: slugOf },
    headers: { slugify: slugOf },
    languageAlias: { haproxy: 'nginx', caddyfile: 'nginx' },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Operate', link: '/operate/', activeMatch: '/operate/' },
      { text: 'Applications', link: '/applications/', activeMatch: '/applications/' },
      { text: 'Reference', link: '/reference/', activeMatch: '/reference/' },
      { text: 'Keycloak', link: '/keycloak/', activeMatch: '/keycloak/' },
      { text: 'Contributing', link: '/contributing/', activeMatch: '/contributing/' },
      { text: manifest.version, link: '/project/changelog' },
    ],
    sidebar: [
      group('Operate', 'operate', [
        'first-steps',
        'install',
        'realms',
        'containers',
        'postgres',
        'replicas',
        'keycloak',
        'runbooks',
        'monitoring',
        'security',
      ]),
      group('Applications', 'applications', ['login', 'machine-to-machine', 'resource-server']),
      group('Reference', 'reference', [
        'commands',
        'flags',
        'settings',
        'exit-codes',
        'errors',
        'http',
        'files',
        'compatibility',
      ]),
      group(
        'Keycloak’s behaviour',
        'keycloak',
        ['errors', 'tokens', 'sessions', 'login', 'pages', 'logout', 'clients', 'users', 'realms'],
        true,
      ),
      {
        text: 'More',
        items: [
          ...['performance', 'not-built'].map(page),
          { text: 'Security policy', link: '/project/security' },
          { text: 'Changelog', link: '/project/changelog' },
        ],
      },
      { text: 'Inside', items: ['architecture', 'style'].map(page) },
      group('Decisions', 'decisions', [], true),
      group(
        'Contributing',
        'contributing',
        ['recipes', 'tests', 'debugging', 'releases', 'dependencies'],
        true,
      ),
    ],
    footer: { message: 'MIT licence' },
  },
});
