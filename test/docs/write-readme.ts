import { readFileSync, writeFileSync } from 'node:fs';
import { PARTS } from './tables.ts';

// `node test/docs/write-readme.ts` writes README's generated parts anew; readme.test.ts only compares.

const file = new URL('../../README.md', import.meta.url);

/** README with every part between its markers as the program has it. */
export function withParts(readme: string): string {
  return readme.replace(
    /(<!-- part: ([a-z ]+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_, before: string, name: string, after: string) => {
      const part = PARTS[name];
      if (part === undefined) throw new Error(`README has a part ${name} that nothing makes`);
      return `${before}${part().join('\n')}\n${after}`;
    },
  );
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, withParts(readFileSync(file, 'utf8')));
