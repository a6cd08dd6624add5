import { IdkitError, systemClock, systemRandom } from '../core/index.ts';
import type { CommandContext } from './command.ts';
import type { Output } from './output/output.ts';
import type { CliIo } from './run-cli.ts';
import { ask } from './terminal.ts';

/** Builds the context of a command from the global flags and the process. */
export function openContext(
  { globals, presentation }: Pick<CommandContext, 'globals' | 'presentation'>,
  io: CliIo,
  output: Output,
): CommandContext {
  const { terminal, env, cwd, interrupt } = io;
  const { signal } = interrupt;
  if (globals.timeout !== undefined) armTimeout(globals.timeout, interrupt);

  const loadSettings: CommandContext['loadSettings'] = async (flags) => {
    const config = await import('../config/index.ts');
    return config.loadSettings({ dir: globals.dir, env, cwd, ...(flags === undefined ? {} : { flags }) });
  };

  return {
    globals,
    terminal,
    presentation,
    env,
    cwd,
    signal,
    reporter: output.reporter,
    procedure: { reporter: output.reporter, clock: systemClock, random: systemRandom, signal },
    loadSettings,
    async loadPlatform(flags) {
      const settings = await loadSettings(flags);
      if (!settings.exists) throw directoryMissing(settings.dir);
      return settings;
    },
    promptPassphrase: terminal.canAsk
      ? () => ask(terminal, 'Passphrase of env.gpg: ', { hidden: true, signal })
      : undefined,
  };
}

/** @param init the command that creates a platform directory, for the hint */
export function directoryMissing(dir: string, init = 'idkit init'): IdkitError {
  return new IdkitError(
    'IDKIT_DIRECTORY_MISSING',
    `${dir} is not a platform directory: it contains no idkit.yaml`,
    {
      hints: ['set --dir or IDKIT_DIR to a platform directory', `${init} --dir ${dir} creates one`],
    },
  );
}

/** Aborts the command after `--timeout` in the same way as a signal. The command then fails with IDKIT_UNREACHABLE. */
function armTimeout(seconds: number, interrupt: AbortController): void {
  setTimeout(() => {
    interrupt.abort(
      new IdkitError('IDKIT_UNREACHABLE', `the command did not finish within ${seconds} s (--timeout)`),
    );
  }, seconds * 1000).unref();
}
