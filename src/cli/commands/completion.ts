import type { CliCommand } from '../cli-command.ts';
import type { Runner } from '../command.ts';

/** The shells with a completion script, and how to install it. */
const SHELLS = {
  bash: [
    [
      'idkit completion bash > ~/.local/share/bash-completion/completions/idkit',
      'installs it for this user; create the directory first; needs the package bash-completion',
    ],
    ['source <(idkit completion bash)', 'loads it into this shell'],
  ],
  zsh: [
    [
      'idkit completion zsh > ~/.zfunc/_idkit',
      'installs it for this user; create the directory first; ~/.zshrc needs fpath=(~/.zfunc $fpath) before compinit',
    ],
    ['source <(idkit completion zsh)', 'loads it into this shell'],
  ],
  fish: [
    [
      'idkit completion fish > ~/.config/fish/completions/idkit.fish',
      'installs it for this user; create the directory first',
    ],
    ['idkit completion fish | source', 'loads it into this shell'],
  ],
} as const;

type Shell = keyof typeof SHELLS;

/** `idkit completion bash|zsh|fish` */
export function addCompletion(program: CliCommand, run: Runner): void {
  const completion = program
    .command('completion')
    .description('print a completion script for a shell')
    .examples(Object.values(SHELLS).map(([install]) => install));
  for (const shell of Object.keys(SHELLS) as Shell[]) {
    completion
      .command(shell)
      .description(`print the completion script for ${shell}`)
      .examples(SHELLS[shell])
      .action(
        run(async () => {
          const script = await renderCompletion(program, shell);
          return { data: { shell, script }, text: script.trimEnd(), verbatim: true };
        }),
      );
  }
}

/**
 * Renders a completion script. The script contains all commands and flags, so the shell starts idkit only to complete a
 * name, such as that of a realm.
 */
async function renderCompletion(program: CliCommand, shell: Shell): Promise<string> {
  const { readCompletion } = await import('../completion/tree.ts');
  const commands = readCompletion(program);
  switch (shell) {
    case 'bash':
      return (await import('../completion/bash.ts')).renderBash(commands);
    case 'zsh':
      return (await import('../completion/zsh.ts')).renderZsh(commands);
    case 'fish':
      return (await import('../completion/fish.ts')).renderFish(commands);
  }
}
