import { ownVersion } from '../../config/index.ts';
import { EXIT_CODES } from '../../core/index.ts';
import type { CliCommand, Example } from '../cli-command.ts';

/** A flag as the help shows it. */
export interface ReferenceFlag {
  /** The flag with the name of its value, for example `--port <number>`. */
  flags: string;
  description: string;
  /** The accepted values. Undefined if the flag accepts other values too. */
  choices?: readonly string[];
  default?: string;
}

/** A command or a group of commands. */
export interface ReferenceCommand {
  /** The words after `idkit`, for example `admin realm list`. */
  path: string;
  aliases: readonly string[];
  description: string;
  /** For example `idkit verify [DIR] [flags]`. */
  usage: string;
  arguments: readonly { name: string; description: string }[];
  /** The command's own flags, without the global flags. */
  flags: readonly ReferenceFlag[];
  examples: readonly Example[];
  /** The commands of a group. Empty for a command that is not a group. */
  commands: readonly ReferenceCommand[];
}

/** The content of the reference, which all renderers and `idkit help --all --json` use. */
export interface Reference {
  description: string;
  version: string;
  globalFlags: readonly ReferenceFlag[];
  commands: readonly ReferenceCommand[];
  examples: readonly Example[];
  exitCodes: readonly { code: number; meaning: string }[];
}

/** Reads the reference from the commands of the program. Omits hidden commands and flags. */
export function readReference(program: CliCommand): Reference {
  return {
    description: program.description(),
    version: ownVersion(),
    globalFlags: flagsOf(program),
    commands: program.visibleCommands().map((command) => readCommand(command, '')),
    examples: program.exampleRows,
    exitCodes: Object.entries(EXIT_CODES).map(([code, meaning]) => ({ code: Number(code), meaning })),
  };
}

function readCommand(command: CliCommand, above: string): ReferenceCommand {
  const path = `${above} ${command.name()}`.trim();
  const args = command.registeredArguments.map((argument) => {
    const name = argument.name().toUpperCase();
    return {
      name,
      usage: argument.required ? name : `[${name}${argument.variadic ? '…' : ''}]`,
      description: argument.description,
    };
  });
  const commands = command.visibleCommands().map((child) => readCommand(child, path));
  const flags = flagsOf(command);
  const usage = [
    `idkit ${path}`,
    ...(commands.length > 0 ? ['COMMAND'] : []),
    ...args.map((argument) => argument.usage),
    ...(flags.length > 0 ? ['[flags]'] : []),
  ];
  return {
    path,
    aliases: command.aliases(),
    description: command.description(),
    usage: usage.join(' '),
    arguments: args.map(({ name, description }) => ({ name, description })),
    flags,
    examples: command.exampleRows,
    commands,
  };
}

function flagsOf(command: CliCommand): readonly ReferenceFlag[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => ({
      flags: option.flags,
      description: option.description,
      ...(option.argChoices === undefined ? {} : { choices: option.argChoices }),
      ...(typeof option.defaultValue === 'string' ? { default: option.defaultValue } : {}),
    }));
}

/** Returns all commands except groups. */
export function leavesOf(commands: readonly ReferenceCommand[]): readonly ReferenceCommand[] {
  return commands.flatMap((command) =>
    command.commands.length === 0 ? [command] : leavesOf(command.commands),
  );
}

/** Returns the description of a flag with its accepted values and its default. */
export function describeFlag({ description, choices, default: usual }: ReferenceFlag): string {
  const notes = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
}
