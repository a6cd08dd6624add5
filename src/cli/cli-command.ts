import { Command, Help, type Option } from 'commander';
import { flagsOfCommand } from '../config/index.ts';
import { wrapWords } from './output/display-width.ts';
import { renderExamples, renderItem } from './output/wrap.ts';

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

  override createHelp(): Help {
    return Object.assign(new CliHelp(), this.configureHelp());
  }

  /** Adds examples to the end of the help. */
  examples(rows: readonly Example[]): this {
    this.exampleRows = rows;
    return this;
  }

  /** Adds the flags that set settings. `path` contains the command's words, for example `backups list`. */
  settingFlags(path: string): this {
    for (const { form, description } of flagsOfCommand(path)) this.option(form, description);
    return this;
  }

  /** The words of the command, for example `admin realm list`. Empty for the program itself. */
  get path(): string {
    return this.parent instanceof CliCommand ? `${this.parent.path} ${this.name()}`.trim() : '';
  }

  /** Returns the direct subcommands that the help lists. */
  visibleCommands(): readonly CliCommand[] {
    const visible = new Set<Command>(this.createHelp().visibleCommands(this));
    return this.commands.filter((command) => visible.has(command));
  }
}

/** The layout of the help: it fits the width, and breaks no word. */
class CliHelp extends Help {
  get #width(): number {
    return this.helpWidth ?? 100;
  }

  /** Aligns the long flags, whether they have a short form or not. */
  override optionTerm(option: Option): string {
    return option.short === undefined ? `    ${option.flags}` : option.flags;
  }

  override subcommandTerm(command: Command): string {
    const names = [command.name(), ...command.aliases()].join('|');
    const values = command.registeredArguments.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? `<${name}>` : `[${name}]`;
    });
    return [names, ...values].join(' ');
  }

  override styleUsage(usage: string): string {
    const title = 'Usage: '.length;
    return wrapWords(usage, this.#width - title).join(`\n${' '.repeat(title)}`);
  }

  override boxWrap(text: string, width: number): string {
    return wrapWords(text, width).join('\n');
  }

  override formatItem(term: string, nameWidth: number, description: string): string {
    return renderItem(term, description, { nameWidth, width: this.#width }).join('\n');
  }

  override formatHelp(command: Command, helper: Help): string {
    const help = super.formatHelp(command, helper);
    const rows = command instanceof CliCommand ? command.exampleRows : [];
    if (rows.length === 0) return help;
    return `${help}\nExamples:\n${renderExamples(rows, this.#width).join('\n')}\n`;
  }
}
