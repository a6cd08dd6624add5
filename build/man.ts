import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildProgram, readReference, renderManPages } from '../src/cli/index.ts';

// Writes the manual pages into dist/man. npm installs those that package.json lists under `man`.

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}dist/man`;
const program = await buildProgram(() => async () => {});
const pages = renderManPages(readReference(program));

const { man } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { man: string[] };
const made = pages.map(({ file }) => `./dist/man/${file}`).sort();
if (made.join() !== [...man].sort().join())
  throw new Error(`package.json must list these pages under "man": ${JSON.stringify(made)}`);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const { file, text } of pages) writeFileSync(`${target}/${file}`, text);
