import { type CompletedCommand, type CompletedFlag, quoteForShell, withDescendants } from './tree.ts';

/**
 * Renders the completion for bash. Names from the service are only compared and quoted, never evaluated: `compgen -W`
 * would run a command that a user put into a name.
 */
export function renderBash(program: CompletedCommand): string {
  const commands = withDescendants(program);
  return `# idkit completion for bash

# Sets path and value: the command below path that a word names, and what the flag of a path expects.
_idkit_enter() {
  case "\${path:+$path }$1" in
${commands
  .filter(({ path }) => path !== '')
  .map(
    (command) =>
      `    ${spellings(command).map(quoteForShell).join('|')}) path=${quoteForShell(command.path)} ;;`,
  )
  .join('\n')}
    *) return 1 ;;
  esac
}

_idkit_flag() {
  value=
  case "$1|$2" in
${commands.flatMap(flagCases).join('\n')}
  esac
}

# Sets words: the line up to the cursor, without the additional splits at COMP_WORDBREAKS.
_idkit_split() {
  local rest="\${COMP_LINE:0:COMP_POINT}" word i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ \${#words[@]} -eq 0 || $rest == [[:space:]]* ]]; then
      while [[ $rest == [[:space:]]* ]]; do rest="\${rest:1}"; done
      words+=("")
    fi
    [[ $rest == "$word"* ]] || word="$rest"
    words[\${#words[@]}-1]+="$word"
    rest="\${rest:\${#word}}"
  done
}

# Adds the candidates that begin with the current word. readline replaces only what follows the last word break.
_idkit_offer() {
  local candidate quoted
  for candidate in "$@"; do
    [[ $candidate == "$current"* ]] || continue
    candidate="$lead$candidate"
    candidate="\${candidate:\${#kept}}"
    quoted="$candidate"
    [[ $candidate == *[!A-Za-z0-9_.@:+/=-]* ]] && printf -v quoted %q "$candidate"
    COMPREPLY+=("$quoted")
  done
}

_idkit_names() {
  local line
  while IFS= read -r line; do
    _idkit_offer "\${line%%$'\\t'*}"
  done < <(command idkit __complete "$1" "$current" -- "\${words[@]}" 2>/dev/null)
}

_idkit_value() {
  case "$1" in
    files) compopt -o default 2>/dev/null ;;
    directories) compopt -o dirnames 2>/dev/null ;;
    sets)
      compopt -o plusdirs -o filenames 2>/dev/null
      _idkit_names sets
      ;;
    choices\\ *) _idkit_offer \${1#choices } ;;
    other) ;;
    *) _idkit_names "$1" ;;
  esac
}

_idkit() {
  local words current kept tail lead= path= value= word i count=0 ended= found=
  _idkit_split
  for ((i = 1; i < \${#words[@]} - 1; i++)); do
    word="\${words[i]}"
    if [[ -n $value ]]; then
      value=
    elif [[ -n $ended ]]; then
      count=$((count + 1))
    elif [[ $word == -- ]]; then
      ended=1
    elif [[ $word == -* ]]; then
      [[ $word == *=* ]] || _idkit_flag "$path" "$word"
    else
      [[ $path == help ]] && path=
      [[ $count -eq 0 ]] && _idkit_enter "$word" || count=$((count + 1))
    fi
  done
  current="\${words[\${#words[@]}-1]}"
  if [[ -z $value && -z $ended && $current == --*=* ]]; then
    _idkit_flag "$path" "\${current%%=*}"
    lead="\${current%%=*}="
    current="\${current#*=}"
    [[ -n $value ]] || return
  fi
  tail="$lead$current"
  for word in = :; do
    [[ $COMP_WORDBREAKS == *"$word"* ]] && tail="\${tail##*"$word"}"
  done
  # readline also breaks before an at sign, but replaces it together with what follows.
  [[ $COMP_WORDBREAKS == *@* && $tail == *@* ]] && tail="@\${tail##*@}"
  kept="$lead$current"
  kept="\${kept%"$tail"}"
  COMPREPLY=()
  if [[ -n $value ]]; then
    _idkit_value "$value"
    return
  fi
  if [[ $current != -* || -n $ended ]]; then
    case "$path|$count" in
${commands.flatMap((command) => positionCases(command, program)).join('\n')}
    esac
    [[ -n $found || -n $current || -n $ended ]] && return
  fi
  case "$path" in
${commands
  .map(
    ({ path, flags }) =>
      `    ${quoteForShell(path)}) _idkit_offer ${flags.map(({ long }) => long).join(' ')} ;;`,
  )
  .join('\n')}
  esac
  [[ -n $path ]] && _idkit_offer ${program.flags.map(({ long }) => long).join(' ')}
}

complete -F _idkit idkit
`;
}

/** Returns the words that select a command: its path, with its name or with an alias. */
function spellings({ path, name, aliases }: CompletedCommand): readonly string[] {
  const above = path.slice(0, path.length - name.length);
  return [name, ...aliases].map((word) => above + word);
}

function flagCases({ path, flags }: CompletedCommand): readonly string[] {
  return flags.flatMap((flag) => {
    if (flag.value === undefined) return [];
    // The flags of the program are valid after every command.
    const start = path === '' ? '*' : quoteForShell(path);
    const patterns = namesOf(flag).map((name) => `${start}${quoteForShell(`|${name}`)}`);
    return [`    ${patterns.join('|')}) value=${quoteForShell(describe(flag.value))} ;;`];
  });
}

function namesOf({ long, short }: CompletedFlag): readonly string[] {
  return short === undefined ? [long] : [short, long];
}

function describe({ kind, choices }: NonNullable<CompletedFlag['value']>): string {
  return kind === 'choices' ? `choices ${choices.join(' ')}` : kind;
}

function positionCases(command: CompletedCommand, program: CompletedCommand): readonly string[] {
  const { path, commands, repeats } = command;
  if (commands.length > 0)
    return [`      ${quoteForShell(`${path}|0`)}) found=1; _idkit_offer ${namesIn(commands)} ;;`];
  return command.arguments.flatMap((value, index) => {
    if (value.kind === 'other') return [];
    const isLast = index === command.arguments.length - 1;
    const pattern = isLast && repeats ? `${quoteForShell(`${path}|`)}*` : quoteForShell(`${path}|${index}`);
    const action =
      value.kind === 'commands'
        ? `_idkit_offer ${namesIn(program.commands)}`
        : `_idkit_value ${quoteForShell(describe(value))}`;
    return [`      ${pattern}) found=1; ${action} ;;`];
  });
}

function namesIn(commands: readonly CompletedCommand[]): string {
  return commands.map(({ name }) => name).join(' ');
}
