import type { Command } from 'commander';
import type { Runner } from '../command.ts';
import { examples } from '../flags.ts';

/** `idkit completion bash|zsh|fish` */
export function addCompletion(program: Command, run: Runner): void {
  const completion = program
    .command('completion')
    .description('print a completion script for a shell')
    .addHelpText('after', examples(Object.values(INSTALL).map((command) => [command, 'for this user'])));
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    completion
      .command(shell)
      .description(`completion for ${shell}`)
      .addHelpText('after', examples([[INSTALL[shell], 'for this user']]))
      .action(
        run(async () => {
          const { renderCompletion } = await import('./completion-script.ts');
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
