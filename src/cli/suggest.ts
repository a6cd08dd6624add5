import type { CommanderError } from 'commander';
import { nearestName } from '../core/index.ts';
import type { CliCommand } from './cli-command.ts';

/**
 * Returns a hint with the command or the flag that the user probably meant, or undefined if nothing is similar. Keycloak
 * makes session ids that start with a dash, so an unknown flag may also be a value.
 */
export function suggest(error: CommanderError, command: CliCommand): string | undefined {
  const given = /'(.*)'/.exec(error.message)?.[1] ?? '';
  if (error.code === 'commander.unknownCommand') return suggestCommand(given, command);
  if (error.code === 'commander.unknownOption')
    return suggestFlag(given, command) ?? suggestDashes(given, command);
  return undefined;
}

/** Returns a hint with the subcommand of `command`, or with the only deeper command, that is called like `given`. */
export function suggestCommand(given: string, command: CliCommand): string | undefined {
  const deeper = command.visibleCommands().flatMap((child) => findNamed(given, child));
  const [only] = deeper;
  if (only !== undefined && deeper.length === 1) return `did you mean idkit ${only.path}?`;
  const names = command.visibleCommands().flatMap((child) => [child.name(), ...child.aliases()]);
  return didYouMean(nearestName(given, names));
}

/** Returns the commands below `command` whose name is `name`. */
function findNamed(name: string, command: CliCommand): readonly CliCommand[] {
  return command
    .visibleCommands()
    .flatMap((child) => (child.name() === name ? [child] : findNamed(name, child)));
}

function suggestFlag(given: string, command: CliCommand): string | undefined {
  if (!given.startsWith('--')) return undefined;
  const known: string[] = [];
  for (let at: CliCommand | null = command; at !== null; at = at.parent as CliCommand | null) {
    for (const { long } of at.createHelp().visibleOptions(at)) if (long !== undefined) known.push(long);
  }
  return didYouMean(nearestName(given.replace(/=.*/s, ''), known));
}

function suggestDashes(given: string, command: CliCommand): string | undefined {
  if (command.registeredArguments.length === 0) return undefined;
  return `if ${given} is a value, write the flags first, and then -- ${given}`;
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean ${name}?`;
}
