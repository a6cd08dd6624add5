import type { Argument, Option } from 'commander';
import type { CliCommand } from '../cli-command.ts';

/** The kinds of names that `idkit __complete` prints. */
export const NAME_KINDS = ['sets', 'realms', 'users', 'clients', 'roles', 'groups', 'deleted'] as const;

export type NameKind = (typeof NAME_KINDS)[number];

/** What a shell offers for the value of a flag or for an argument. For `other`, it offers nothing. */
export interface Value {
  kind: 'choices' | 'files' | 'directories' | 'commands' | 'other' | NameKind;
  /** The accepted values of the kind `choices`, otherwise empty. */
  choices: readonly string[];
  /** The name of the value in the help, for example `file`. */
  name: string;
}

export interface CompletedFlag {
  /** For example `--quiet`. */
  long: string;
  /** For example `-q`. */
  short: string | undefined;
  description: string;
  /** Undefined for a flag without a value. */
  value: Value | undefined;
  /** True if the flag can be repeated. */
  repeats: boolean;
}

/** A command with everything that can follow it. */
export interface CompletedCommand {
  /** For example `admin realm`; empty for the program. */
  path: string;
  name: string;
  aliases: readonly string[];
  description: string;
  commands: readonly CompletedCommand[];
  /** The flags of this command alone. The flags of the program are valid everywhere. */
  flags: readonly CompletedFlag[];
  arguments: readonly Value[];
  /** True if the last argument can be repeated. */
  repeats: boolean;
}

/** Kinds by the name of a value, and by the name of an argument. */
const BY_NAME: Readonly<Record<string, Value['kind']>> = {
  file: 'files',
  dir: 'directories',
  root: 'directories',
  target: 'directories',
  set: 'sets',
  realm: 'realms',
  user: 'users',
  username: 'users',
  client: 'clients',
  'client-id': 'clients',
  role: 'roles',
  group: 'groups',
  deleted: 'deleted',
  command: 'commands',
};

/** Kinds by flag, for flags whose value has a general name such as `<name>`. */
const BY_FLAG: Readonly<Record<string, Value['kind']>> = {
  '--realm': 'realms',
  '--user': 'users',
  '--username': 'users',
  '--client': 'clients',
  '--client-id': 'clients',
  '--role': 'roles',
  '--group': 'groups',
};

/** Reads what the shells can complete from the commands of the program. Hidden commands and flags are left out. */
export function readCompletion(command: CliCommand): CompletedCommand {
  const help = command.createHelp();
  return {
    path: command.path,
    name: command.name(),
    aliases: command.aliases(),
    description: command.description(),
    commands: command.visibleCommands().map(readCompletion),
    flags: help.visibleOptions(command).map(readFlag),
    arguments: command.registeredArguments.map((argument) => readArgument(command, argument)),
    repeats: command.registeredArguments.at(-1)?.variadic === true,
  };
}

/** Returns the command and all commands below it. */
export function withDescendants(command: CompletedCommand): readonly CompletedCommand[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

function readFlag(option: Option): CompletedFlag {
  const name = /[<[]([\w-]+)/.exec(option.flags)?.[1];
  const long = option.long ?? option.short ?? '';
  return {
    long,
    short: option.long === undefined ? undefined : option.short,
    description: option.description,
    value:
      name === undefined ? undefined : valueNamed(name, option.argChoices, BY_FLAG[long] ?? BY_NAME[name]),
    repeats: option.variadic,
  };
}

function readArgument(command: CliCommand, argument: Argument): Value {
  const name = argument.name();
  // The argument of `create` is a new name.
  return valueNamed(name, argument.argChoices, command.name() === 'create' ? undefined : BY_NAME[name]);
}

function valueNamed(
  name: string,
  choices: readonly string[] | undefined,
  kind: Value['kind'] = 'other',
): Value {
  return choices === undefined ? { kind, choices: [], name } : { kind: 'choices', choices, name };
}

/** Quotes text for bash, zsh and fish. In fish, a backslash needs no escape unless it precedes a quote or itself. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
