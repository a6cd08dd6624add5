// CLI: the program `idkit`. It converts a command line to a call and renders the result.
// Owns: commands and flags, text and JSON rendering, exit codes, prompts, signals.
// Must not know: store, HTTP, protocol; it uses procedures, the platform's door, backupset, client and config.
// Start at main.ts, then run-cli.ts and the table of commands in commands/table.ts.
export type { CliCommand } from './cli-command.ts';
export type { Runner } from './command.ts';
export { COMMANDS, type CommandRow } from './commands/table.ts';
export { main } from './main.ts';
export { buildProgram } from './program.ts';
export { type ManPage, renderManPages } from './reference/man.ts';
export { anchorOf, renderReferenceMarkdown } from './reference/markdown.ts';
export { leavesOf, type Reference, type ReferenceCommand, readReference } from './reference/reference.ts';
export { type CliIo, runCli } from './run-cli.ts';
