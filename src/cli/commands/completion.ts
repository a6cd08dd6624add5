import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';

/** `idkit completion bash|zsh|fish` */
export function addCompletion(program: CliCommand, run: Runner): void {
  const completion = program
    .command('completion')
    .description('print a completion script for a shell')
    .examples(Object.values(INSTALL).map((command) => [command, 'installs it for this user']));
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    completion
      .command(shell)
      .description(`print the completion script for ${shell}`)
      .examples([[INSTALL[shell], 'installs it for this user']])
      .action(
        run(async () => {
          const script = renderCompletion(program, shell);
          return { data: { shell, script }, text: script.trimEnd() };
        }),
      );
  }
}

const INSTALL = {
  bash: 'idkit completion bash >> ~/.bash_completion',
  zsh: 'idkit completion zsh > ~/.zfunc/_idkit',
  fish: 'idkit completion fish > ~/.config/fish/completions/idkit.fish',
} as const;

/** A command with the words and flags that can follow it. */
interface Node {
  /** For example `admin realm`; empty for the program. */
  path: string;
  words: readonly string[];
  flags: readonly string[];
}

/**
 * Renders a completion script. The script contains all commands, so the shell does not start idkit to complete a word.
 */
export function renderCompletion(program: CliCommand, shell: 'bash' | 'zsh' | 'fish'): string {
  const nodes = collectNodes(program, '', flagsOf(program));
  if (shell === 'fish') return renderFish(nodes);
  const cases = nodes
    .map(
      ({ path, words, flags }) =>
        `    ${JSON.stringify(path)}) words=${JSON.stringify([...words, ...flags].join(' '))} ;;`,
    )
    .join('\n');
  const paths = nodes.map(({ path }) => JSON.stringify(path)).join('|');
  const body = `_idkit() {
  local current path word words
  current="\${COMP_WORDS[COMP_CWORD]}"
  path=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${paths}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _idkit idkit
`;
  if (shell === 'bash') return `# idkit completion for bash\n${body}`;
  return `#compdef idkit\n# idkit completion for zsh\nautoload -U +X bashcompinit && bashcompinit\n${body}`;
}

function collectNodes(command: CliCommand, path: string, globals: readonly string[]): readonly Node[] {
  const visible = command.visibleCommands();
  const own = command.parent === null ? [] : flagsOf(command);
  const node: Node = { path, words: visible.map((child) => child.name()), flags: [...own, ...globals] };
  const below = visible.flatMap((child) =>
    collectNodes(child, path === '' ? child.name() : `${path} ${child.name()}`, globals),
  );
  return [node, ...below];
}

function flagsOf(command: CliCommand): readonly string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map((option) => option.long ?? option.short ?? '');
}

function renderFish(nodes: readonly Node[]): string {
  const lines = ['# idkit completion for fish', 'complete -c idkit -f'];
  for (const { path, words, flags } of nodes) {
    const seen = path === '' ? 'not __fish_seen_subcommand_from' : '__fish_seen_subcommand_from';
    const names = path === '' ? (nodes[0]?.words ?? []).join(' ') : path.split(' ').at(-1)!;
    const condition = JSON.stringify(`${seen} ${names}`);
    if (words.length > 0)
      lines.push(`complete -c idkit -n ${condition} -a ${JSON.stringify(words.join(' '))}`);
    for (const flag of flags) {
      lines.push(`complete -c idkit -n ${condition} -l ${flag.replace(/^--/, '')}`);
    }
  }
  return `${[...new Set(lines)].join('\n')}\n`;
}
