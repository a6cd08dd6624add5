// CLI: the commander program; flags to call to result.
// Owns: commands and flags, text and JSON rendering, exit codes, prompts, signals.
// Must not know: store, HTTP, protocol; it calls procedures, the platform's door, backupset, client and config.
// Start at main.ts, run-cli.ts and commands/.
export type { CliCommand } from './cli-command.ts';
export type { Runner } from './command.ts';
export { COMMANDS, type CommandRow } from './commands/table.ts';
export { main } from './main.ts';
export { buildProgram } from './program.ts';
export { type ManPage, renderManPages } from './reference/man.ts';
export { anchorOf, renderReferenceMarkdown } from './reference/markdown.ts';
export { leavesOf, type Reference, type ReferenceCommand, readReference } from './reference/reference.ts';
export { type CliIo, runCli } from './run-cli.ts';
