/** The examples at the end of a command's help. Each line is a command and what it does. */
export function examples(rows: readonly (readonly [command: string, does: string])[]): string {
  const width = Math.max(...rows.map(([command]) => command.length));
  return `\nExamples:\n${rows.map(([command, does]) => `  ${command.padEnd(width)}  ${does}`).join('\n')}`;
}
