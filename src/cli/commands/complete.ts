import { setTimeout as sleep } from 'node:timers/promises';
import type { CliCommand } from '../cli-command.ts';
import type { CommandContext, Outcome, Runner } from '../command.ts';
import type { FoundName, NameRequest } from '../completion/names.ts';
import type { NameKind } from '../completion/tree.ts';

/** Timeout of the search for names in milliseconds, because a person waits after the Tab key. */
const PATIENCE = 1000;

/**
 * `idkit __complete KIND PREFIX -- WORD…`, which the completion scripts call: prints the names of a kind that begin with
 * the prefix, each with a tab and a description. The words are those of the command line that is being completed.
 */
export function addComplete(program: CliCommand, run: Runner): void {
  program
    .command('__complete', { hidden: true })
    .argument('<kind>')
    .argument('[prefix]')
    .argument('[words...]')
    .description('print the names that complete a command line')
    .action(
      run((context, _flags, [kind, prefix = '', words]) =>
        printNames(context, kind as NameKind, { prefix, words: (words ?? []) as readonly string[] }),
      ),
    );
}

async function printNames(context: CommandContext, kind: NameKind, request: NameRequest): Promise<Outcome> {
  const names = await findInTime(context, kind, request);
  const shown = names.filter(({ name }) => name.startsWith(request.prefix) && isPlain(name));
  return {
    text: shown.map(({ name, text }) => (text === '' ? name : `${name}\t${oneLine(text)}`)).join('\n'),
    verbatim: true,
  };
}

/** Finds the names. An error means that there are none, because a shell shows it in the middle of the typed line. */
async function findInTime(
  context: CommandContext,
  kind: NameKind,
  request: NameRequest,
): Promise<readonly FoundName[]> {
  try {
    const { openNames } = await import('../completion/names.ts');
    // Opening may renew the stored login. It is not cut short, because that could lose the new refresh token.
    const names = await openNames(context, kind, request);
    return await Promise.race([names(), sleep(PATIENCE, [], { ref: false })]);
  } catch {
    return [];
  }
}

/** A name with control characters cannot be one line of the output, and could move the cursor. */
function isPlain(name: string): boolean {
  return name !== '' && !CONTROL.test(name);
}

function oneLine(text: string): string {
  return text.split(CONTROL).join(' ').slice(0, LONGEST_DESCRIPTION);
}

const CONTROL = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const LONGEST_DESCRIPTION = 80;
