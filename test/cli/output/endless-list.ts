import { RENDER } from '../../../src/cli/output/formats.ts';
import { writeAll } from '../../../src/cli/output/sink.ts';
import { openTerminal } from '../../../src/cli/terminal.ts';

// A program that prints a list without an end, for a test of readers that stop early.

async function* numbers(): AsyncGenerator<{ number: number }> {
  for (let number = 1; ; number++) yield { number };
}

const listing = { columns: [], name: 'number', records: numbers() };
await writeAll(openTerminal(), RENDER.name(listing), new AbortController().signal);
