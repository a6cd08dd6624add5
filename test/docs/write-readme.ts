import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPages, root } from './pages.ts';
import { PARTS } from './tables.ts';

// `node test/docs/write-readme.ts` writes the generated parts of README and docs/. parts.test.ts compares them without
// writing.

/** Returns a page in which the text between each pair of markers is newly generated. */
export function withParts(page: string): string {
  return page.replace(
    /(<!-- part: ([a-z ./-]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, before: string, name: string, after: string) => {
      const part = PARTS[name];
      if (part === undefined) throw new Error(`a page has the part "${name}", which no table makes`);
      return `${before}${part().join('\n')}\n${after}`;
    },
  );
}

if (process.argv[1] === import.meta.filename) {
  for (const { file, text } of listPages()) {
    const written = withParts(text);
    if (written !== text) writeFileSync(join(root, file), written);
  }
}
