import {
  describeFlag,
  leavesOf,
  type Reference,
  type ReferenceCommand,
  type ReferenceFlag,
} from './reference.ts';

/**
 * Renders the reference as Markdown: a table of all commands, a section for each command, the global flags and the exit
 * codes. The caller writes the heading of the page.
 *
 * @param level the level of the headings; 2 on a page with one `#` heading
 */
export function renderReferenceMarkdown(reference: Reference, level = 2): string {
  const heading = (text: string, deeper = 0): string => `${'#'.repeat(level + deeper)} ${text}`;
  const leaves = leavesOf(reference.commands);
  const blocks = [
    table(
      ['command', 'purpose'],
      leaves.map(({ path, description }) => [`[\`idkit ${path}\`](#${anchorOf(path)})`, description]),
    ),
    ...leaves.flatMap((command) => [heading(`idkit ${command.path}`), ...renderCommand(command)]),
    heading('Flags of every command'),
    flagTable(reference.globalFlags),
    heading('Exit codes'),
    table(
      ['code', 'meaning'],
      reference.exitCodes.map(({ code, meaning }) => [String(code), meaning]),
    ),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** Returns the anchor of a command's section. */
export function anchorOf(path: string): string {
  return `idkit-${path.replaceAll(' ', '-')}`;
}

function renderCommand(command: ReferenceCommand): readonly string[] {
  return [
    sentence(command.description),
    ['```text', command.usage, '```'].join('\n'),
    ...(command.aliases.length === 0 ? [] : [`Also called \`idkit ${command.aliases.join('`, `idkit ')}\`.`]),
    ...(command.arguments.length === 0
      ? []
      : [
          table(
            ['argument', 'meaning'],
            command.arguments.map(({ name, description }) => [`\`${name}\``, description]),
          ),
        ]),
    ...(command.flags.length === 0 ? [] : [flagTable(command.flags)]),
    ...(command.examples.length === 0
      ? []
      : [command.examples.map(([commandLine, does]) => `- \`${commandLine}\`: ${does}`).join('\n')]),
  ];
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

function flagTable(flags: readonly ReferenceFlag[]): string {
  return table(
    ['flag', 'meaning'],
    flags.map((flag) => [`\`${flag.flags}\``, describeFlag(flag)]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  return [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
