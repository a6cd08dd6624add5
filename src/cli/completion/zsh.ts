import {
  type CompletedCommand,
  type CompletedFlag,
  quoteForShell,
  type Value,
  withDescendants,
} from './tree.ts';

/** Renders the completion for zsh: one function for each command, which calls `_arguments`. */
export function renderZsh(program: CompletedCommand): string {
  const functions = withDescendants(program).map((command) => renderFunction(command, program));
  return `#compdef idkit
# idkit completion for zsh

# Adds names from idkit. compadd quotes them, so nothing in a name is evaluated.
_idkit_names() {
  local -a found names shown expl
  local line
  found=("\${(@f)$(command idkit __complete "$1" "\${(Q)PREFIX}" -- "\${(@Q)idkit_line}" 2>/dev/null)}")
  for line in "\${(@)found}"; do
    [[ -n $line ]] || continue
    names+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  _wanted "$1" expl "$2" compadd -l -d shown -a names
}

_idkit_sets() {
  _alternative 'sets:backup set: _idkit_names sets set' 'directories:directory:_files -/'
}

# The words after help are those of a command line.
_idkit_commands() {
  words=(idkit "\${(@)words}")
  (( CURRENT += 1 ))
  _idkit
}

${functions.join('\n\n')}

if [[ $funcstack[1] == _idkit ]]; then
  _idkit "$@"
elif (( $+functions[compdef] )); then
  compdef _idkit idkit
fi
`;
}

function renderFunction(command: CompletedCommand, program: CompletedCommand): string {
  const { path, commands } = command;
  const flags = path === '' ? program.flags : [...command.flags, ...program.flags.filter(isNotOf(command))];
  const specs = [...flags.map(flagSpec), ...argumentSpecs(command)];
  // The names of a realm depend on flags anywhere in the line, and `_arguments` removes the words of the groups.
  const line = path === '' ? `  local -a idkit_line=("\${(@)words[1,CURRENT]}")\n` : '';
  const call = [`_arguments -s -S ${commands.length > 0 ? '-C ' : ''}:`, ...specs].join(' \\\n    ');
  if (commands.length === 0) return `${nameOf(path)}() {\n  ${call}\n}`;
  const described = commands.map(
    ({ name, description }) => `      ${quoteForShell(`${name.replaceAll(':', '\\:')}:${description}`)}`,
  );
  const cases = commands.map(
    ({ name, aliases, path: below }) => `        ${[name, ...aliases].join('|')}) ${nameOf(below)} ;;`,
  );
  return `${nameOf(path)}() {
${line}  local curcontext="$curcontext" context state state_descr ret=1
  local -a line commands
  typeset -A opt_args
  ${call}
  ret=$?
  case $state in
    command)
      commands=(
${described.join('\n')}
      )
      _describe -t commands ${quoteForShell(`${`idkit ${path}`.trim()} command`)} commands && ret=0
      ;;
    arguments)
      case $words[1] in
${cases.join('\n')}
      esac
      ret=$?
      ;;
  esac
  return ret
}`;
}

function nameOf(path: string): string {
  return `_idkit ${path}`.trim().replaceAll(' ', '_');
}

/** True for the flags that a command does not define itself, as every command defines `--help`. */
function isNotOf({ flags }: CompletedCommand): (flag: CompletedFlag) => boolean {
  const own = new Set(flags.map(({ long }) => long));
  return ({ long }) => !own.has(long);
}

function flagSpec({ long, short, description, value, repeats }: CompletedFlag): string {
  const names = short === undefined ? [long] : [short, long];
  const excluded = repeats ? '*' : `(${names.join(' ')})`;
  const text = `[${escapeSpec(description)}]${value === undefined ? '' : `:${escapeSpec(value.name)}:${actionOf(value)}`}`;
  // `=` accepts the value after the flag or in the next word; a short flag takes it without an equals sign.
  const spelled = names.map((name) =>
    value === undefined ? name : name.startsWith('--') ? `${name}=` : `${name}+`,
  );
  const forms = spelled.length === 1 ? spelled[0]! : `{${spelled.join(',')}}`;
  return `${quoteForShell(excluded)}${forms}${quoteForShell(text)}`;
}

function argumentSpecs(command: CompletedCommand): readonly string[] {
  if (command.commands.length > 0) return [`'1: :->command'`, `'*:: :->arguments'`];
  return command.arguments.map((value, index) => {
    const isLast = index === command.arguments.length - 1;
    const position = isLast && command.repeats ? '*' : `${index + 1}`;
    if (value.kind === 'commands') return `'*::${value.name}:_idkit_commands'`;
    return quoteForShell(`${position}:${escapeSpec(value.name)}:${actionOf(value)}`);
  });
}

function actionOf({ kind, choices, name }: Value): string {
  switch (kind) {
    case 'choices':
      return `(${choices.join(' ')})`;
    case 'files':
      return '_files';
    case 'directories':
      return '_files -/';
    case 'sets':
      return '_idkit_sets';
    case 'commands':
    case 'other':
      return ' ';
    default:
      // Without the space, zsh would put options of its own before the arguments.
      return ` _idkit_names ${kind} ${name}`;
  }
}

function escapeSpec(text: string): string {
  return text.replaceAll(/[\\[\]:]/g, '\\$&');
}
