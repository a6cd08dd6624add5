import { Command } from 'commander';
import { flagsOfCommand } from '../config/index.ts';

/** A command line to copy, and what it does. */
export type Example = readonly [commandLine: string, does: string];

/** A commander command that keeps its examples as data, so that the help, the reference and the man pages share them. */
export class CliCommand extends Command {
  /** Every subcommand is a CliCommand, because `createCommand` creates it. */
  declare readonly commands: readonly CliCommand[];
  exampleRows: readonly Example[] = [];

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds examples to the end of the help. */
  examples(rows: readonly Example[]): this {
    this.exampleRows = rows;
    const width = Math.max(...rows.map(([commandLine]) => commandLine.length));
    const lines = rows.map(([commandLine, does]) => `  ${commandLine.padEnd(width)}  ${does}`);
    return this.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  }

  /** Adds the flags that set settings. `path` contains the command's words, for example `backups list`. */
  settingFlags(path: string): this {
    for (const { form, description } of flagsOfCommand(path)) this.option(form, description);
    return this;
  }

  /** Returns the direct subcommands that the help lists. */
  visibleCommands(): readonly CliCommand[] {
    const visible = new Set<Command>(this.createHelp().visibleCommands(this));
    return this.commands.filter((command) => visible.has(command));
  }
}
