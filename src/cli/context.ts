import { IdkitError, systemClock, systemRandom } from '../core/index.ts';
import type { CommandContext, GlobalFlags } from './command.ts';
import type { Output } from './output/output.ts';
import type { CliIo } from './run-cli.ts';
import { ask } from './terminal.ts';

/** What a command works with, made of the global flags and what the process stands in. */
export function openContext(globals: GlobalFlags, io: CliIo, output: Output): CommandContext {
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

/** The error for a place that is no platform directory; `init` is the command that makes one. */
export function directoryMissing(dir: string, init = 'idkit init'): IdkitError {
  return new IdkitError('IDKIT_DIRECTORY_MISSING', `no platform directory at ${dir}: it has no idkit.yaml`, {
    hints: ['name one with --dir or IDKIT_DIR', `${init} --dir ${dir} makes one`],
  });
}

/** `--timeout`: the command is broken off as by a signal, and ends as unreachable. */
function armTimeout(seconds: number, interrupt: AbortController): void {
  setTimeout(() => {
    interrupt.abort(
      new IdkitError('IDKIT_UNREACHABLE', `not done within the ${seconds} s that --timeout allows`),
    );
  }, seconds * 1000).unref();
}
