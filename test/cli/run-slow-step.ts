import { openOutput } from '../../src/cli/run-cli.ts';
import { openTerminal } from '../../src/cli/terminal.ts';

// Shows a step with an inner step on the terminal until a line is typed. The tests run it on a pseudo-terminal.

const flags = { json: false, quiet: false, verbose: false, color: false, progress: true, yes: false };
const { reporter, finish } = await openOutput(openTerminal(), flags, process.env);
reporter.stepStarted({
  id: 'restore',
  title: 'Restore the set there and run the smoke tests',
  number: 2,
  of: 4,
});
reporter.stepStarted({
  id: 'load',
  title: 'Load the dump into a staged database',
  number: 4,
  of: 11,
  within: ['restore'],
});
reporter.stepProgress({ id: 'load', done: 5e8, total: 2e9, unit: 'bytes', within: ['restore'] });
await new Promise((resolve) => process.stdin.once('data', resolve));
reporter.stepFinished({ id: 'load', milliseconds: 1000, within: ['restore'] });
reporter.stepFinished({ id: 'restore', milliseconds: 2000 });
finish({ command: 'drill', exitCode: 0, outcome: { text: 'passed' } });
process.exit(0);
