import { readFileSync } from 'node:fs';
import { openTerminal } from '../../src/cli/terminal.ts';
import { loadRunCli } from '../program.ts';

// Runs several command lines, one after the other, on the terminal of this process. The argument is a JSON file with the
// command lines. A line with the number and the exit code precedes each output.

const runCli = await loadRunCli();
const commandLines = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as string[][];
const terminal = openTerminal();
for (const [index, argv] of commandLines.entries()) {
  process.stdout.write(`<${index}>\n`);
  const interrupt = new AbortController();
  await runCli(argv, { terminal, env: process.env, cwd: process.cwd(), interrupt });
}
process.stdout.write(`<${commandLines.length}>\n`, () => process.exit(0));
