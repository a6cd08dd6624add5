import {
  type CompletedCommand,
  type CompletedFlag,
  quoteForShell,
  type Value,
  withDescendants,
} from './tree.ts';

/** Renders the completion for fish: one `complete` for each command, flag and argument, with the command as condition. */
export function renderFish(program: CompletedCommand): string {
  const commands = withDescendants(program);
  return `# idkit completion for fish

# Sets __idkit_path to the words of the command in the line, and __idkit_count to the number of its arguments so far.
function __idkit_parse
    set -l words (commandline -opc)
    set -l line (string join \\x1f -- $words)
    # fish evaluates the conditions of all completions for the same line.
    test "$line" = "$__idkit_line"; and return
    set -g __idkit_line $line
    set -g __idkit_path ''
    set -g __idkit_count 0
    set -l skip 0
    set -l ended 0
    for word in $words[2..-1]
        if test $skip = 1
            set skip 0
        else if test $ended = 1
            set __idkit_count (math $__idkit_count + 1)
        else if test "$word" = --
            set ended 1
        else if string match -q -- '-*' "$word"
            contains -- "$__idkit_path|$word" $__idkit_valued; or contains -- "|$word" $__idkit_valued
            and set skip 1
        else
            test "$__idkit_path" = help; and set __idkit_path ''
            set -l next (string trim -- "$__idkit_path $word")
            set -l index (contains -i -- "$next" $__idkit_spellings)
            if test $__idkit_count = 0 -a -n "$index"
                set __idkit_path $__idkit_paths[$index]
            else
                set __idkit_count (math $__idkit_count + 1)
            end
        end
    end
end

function __idkit_at
    __idkit_parse
    test "$__idkit_path" = "$argv[1]"
    and test (count $argv) = 1 -o "$__idkit_count" = "$argv[2]"
end

function __idkit_names
    set -l current (string replace -r -- '^--[^=]*=' '' (commandline -ct))
    command idkit __complete $argv[1] "$current" -- (commandline -opc) 2>/dev/null
end

# The words that select a command, its path, and the flags that take a value.
set -g __idkit_spellings ${listOf(commands.flatMap((command) => spellings(command)))}
set -g __idkit_paths ${listOf(commands.flatMap((command) => spellings(command).map(() => command.path)))}
set -g __idkit_valued ${listOf(commands.flatMap(({ path, flags }) => flags.flatMap((flag) => (flag.value === undefined ? [] : namesOf(flag).map((name) => `${path}|${name}`)))))}

complete -c idkit -f
${commands.flatMap((command) => linesOf(command, program)).join('\n')}
`;
}

function listOf(texts: readonly string[]): string {
  return texts.map(quoteForShell).join(' ');
}

/** Returns the words that select a command: its path, with its name or with an alias. */
function spellings({ path, name, aliases }: CompletedCommand): readonly string[] {
  if (path === '') return [];
  const above = path.slice(0, path.length - name.length);
  return [name, ...aliases].map((word) => above + word);
}

function namesOf({ long, short }: CompletedFlag): readonly string[] {
  return short === undefined ? [long] : [short, long];
}

function linesOf(command: CompletedCommand, program: CompletedCommand): readonly string[] {
  const { path, flags } = command;
  const at = (rest = '') =>
    `complete -c idkit -n ${quoteForShell(`__idkit_at ${quoteForShell(path)}${rest}`)}`;
  const subcommands = command.commands.map((child) => subcommandLine(at(' 0'), child));
  // The flags of the program are valid after every command.
  const own = path === '' ? 'complete -c idkit' : at();
  const args = command.arguments.flatMap((value, index) => {
    if (value.kind === 'other') return [];
    if (value.kind === 'commands') return program.commands.map((child) => subcommandLine(at(' 0'), child));
    const isLast = index === command.arguments.length - 1;
    return [`${at(isLast && command.repeats ? '' : ` ${index}`)} ${completeValue(value)}`];
  });
  return [...subcommands, ...flags.map((flag) => `${own} ${flagOf(flag)}`), ...args];
}

function subcommandLine(start: string, { name, description }: CompletedCommand): string {
  return `${start} -a ${quoteForShell(name)} -d ${quoteForShell(description)}`;
}

function flagOf({ long, short, description, value }: CompletedFlag): string {
  const names = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.replace(/^--/, '')}`];
  const takes = value === undefined ? [] : ['-r', completeValue(value)];
  return [...names, ...takes, `-d ${quoteForShell(description)}`].join(' ');
}

function completeValue({ kind, choices }: Value): string {
  switch (kind) {
    case 'choices':
      return `-f -a ${quoteForShell(choices.join(' '))}`;
    case 'files':
      return '-F';
    case 'directories':
      return "-f -a '(__fish_complete_directories)'";
    case 'sets':
      return "-f -a '(__idkit_names sets) (__fish_complete_directories)'";
    case 'commands':
    case 'other':
      return '-f';
    default:
      return `-f -a '(__idkit_names ${kind})'`;
  }
}
