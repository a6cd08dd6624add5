import { writeFileSync } from 'node:fs';
import { compileAll } from './index.ts';

/** The text of the module `compiled/DIALECT.ts`: one query a line. */
export function renderCompiledQueries(dialect: 'sqlite' | 'postgres'): string {
  const lines = Object.entries(compileAll(dialect)).map(
    ([name, query]) => `  ${JSON.stringify(name)}: ${JSON.stringify(query)},\n`,
  );
  return `// Written by \`node src/store/queries/compile.ts\` from the queries; a test compares the two.
import type { CompiledQuery } from '../define.ts';

// biome-ignore format: generated
export const COMPILED_QUERIES: Readonly<Record<string, CompiledQuery>> = {
${lines.join('')}};
`;
}

if (import.meta.main)
  for (const dialect of ['sqlite', 'postgres'] as const)
    writeFileSync(new URL(`./compiled/${dialect}.ts`, import.meta.url), renderCompiledQueries(dialect));
