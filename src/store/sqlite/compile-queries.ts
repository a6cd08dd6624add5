import { writeFileSync } from 'node:fs';
import { compileAll } from '../queries/index.ts';

/** The module text of each driver's `compiled-queries.ts`. */
export function renderCompiledQueries(dialect: 'sqlite' | 'postgres'): string {
  return `// Written by \`node src/store/sqlite/compile-queries.ts\` from ../queries/; a test compares the two.
import type { CompiledQuery } from '../queries/define.ts';

// biome-ignore format: generated
export const COMPILED_QUERIES: Readonly<Record<string, CompiledQuery>> = ${JSON.stringify(compileAll(dialect), null, 1)};
`;
}

if (import.meta.main)
  for (const dialect of ['sqlite', 'postgres'] as const)
    writeFileSync(
      new URL(`../${dialect}/compiled-queries.ts`, import.meta.url),
      renderCompiledQueries(dialect),
    );
