import {
  describeFlag,
  leavesOf,
  type Reference,
  type ReferenceCommand,
  type ReferenceFlag,
} from './reference.ts';

/** A manual page for section 1, user commands. */
export interface ManPage {
  /** For example `idkit-backup.1`. */
  file: string;
  /** The source of the page in the man(7) macro language. */
  text: string;
}

/** Renders `idkit.1` and one page for each top-level command. The page of a group describes all of its commands. */
export function renderManPages(reference: Reference): readonly ManPage[] {
  const pages = reference.commands.map((command) => ({
    file: `${pageName(command.path)}.1`,
    text: renderPage(command, reference),
  }));
  return [{ file: 'idkit.1', text: renderOverview(reference) }, ...pages];
}

function renderOverview(reference: Reference): string {
  const leaves = leavesOf(reference.commands);
  return page('idkit', reference, [
    ...section('NAME', escapeText(`idkit - ${lowerFirst(reference.description).replace(/\.$/, '')}`)),
    ...section('SYNOPSIS', '.B idkit', 'COMMAND [ARGUMENT...] [FLAG...]'),
    ...section('COMMANDS', ...leaves.flatMap(({ path, description }) => item(`idkit ${path}`, description))),
    ...flagSection('FLAGS OF EVERY COMMAND', reference.globalFlags),
    ...section(
      'EXIT STATUS',
      ...reference.exitCodes.flatMap(({ code, meaning }) => item(String(code), meaning)),
    ),
    ...exampleSection(reference.examples),
    ...seeAlso(reference.commands.map(({ path }) => pageName(path))),
  ]);
}

function renderPage(command: ReferenceCommand, reference: Reference): string {
  const name = pageName(command.path);
  const leaves = leavesOf([command]);
  const isGroup = command.commands.length > 0;
  return page(name, reference, [
    ...section('NAME', escapeText(`${name} - ${command.description}`)),
    ...section('SYNOPSIS', ...leaves.flatMap(({ usage }) => [escapeText(usage), '.br'])),
    ...(isGroup
      ? section('COMMANDS', ...leaves.flatMap(renderSubcommand))
      : [
          ...(command.aliases.length === 0
            ? []
            : section('DESCRIPTION', escapeText(`Also called: idkit ${command.aliases.join(', idkit ')}.`))),
          ...argumentSection(command),
          ...flagSection('FLAGS', command.flags),
        ]),
    ...exampleSection(isGroup ? [] : command.examples),
    ...section('EXIT STATUS', escapeText('idkit(1) lists the exit codes and the flags of every command.')),
    ...seeAlso(['idkit']),
  ]);
}

function renderSubcommand(command: ReferenceCommand): readonly string[] {
  return [
    `.SS ${quote(`idkit ${command.path}`)}`,
    escapeText(`${command.description}.`),
    ...command.arguments.flatMap(({ name, description }) => item(name, description)),
    ...command.flags.flatMap((flag) => item(flag.flags, describeFlag(flag))),
    ...command.examples.flatMap(exampleLines),
  ];
}

function page(name: string, { version }: Reference, lines: readonly string[]): string {
  const title = `.TH ${quote(name.toUpperCase())} 1 "" ${quote(`idkit ${version}`)} ${quote('idkit')}`;
  // Turn off hyphenation and justification, which would change command lines.
  return `${[title, '.nh', '.ad l', ...lines].join('\n')}\n`;
}

function section(title: string, ...lines: readonly string[]): readonly string[] {
  return [`.SH ${quote(title)}`, ...lines];
}

function argumentSection({ arguments: args }: ReferenceCommand): readonly string[] {
  if (args.length === 0) return [];
  return section('ARGUMENTS', ...args.flatMap(({ name, description }) => item(name, description)));
}

function flagSection(title: string, flags: readonly ReferenceFlag[]): readonly string[] {
  if (flags.length === 0) return [];
  return section(title, ...flags.flatMap((flag) => item(flag.flags, describeFlag(flag))));
}

function exampleSection(examples: ReferenceCommand['examples']): readonly string[] {
  return examples.length === 0 ? [] : section('EXAMPLES', ...examples.flatMap(exampleLines));
}

function exampleLines([commandLine, does]: ReferenceCommand['examples'][number]): readonly string[] {
  return item(commandLine, does);
}

function seeAlso(names: readonly string[]): readonly string[] {
  return section(
    'SEE ALSO',
    ...names.map((name, index) => `.BR ${escapeInline(name)} (1)${index < names.length - 1 ? ',' : ''}`),
  );
}

/** Renders a term and its description on separate lines. */
function item(term: string, text: string): readonly string[] {
  return ['.TP', `\\fB${escapeInline(term)}\\fR`, escapeText(text)];
}

function pageName(path: string): string {
  return ['idkit', ...path.split(' ')].join('-');
}

function quote(text: string): string {
  return `"${escapeInline(text).replaceAll('"', '\\(dq')}"`;
}

/** Escapes text that begins a line. There, a dot or an apostrophe would start a macro. */
function escapeText(text: string): string {
  return escapeInline(text).replace(/^[.']/, '\\&$&');
}

/**
 * Escapes backslashes, which start an escape sequence, and hyphens and apostrophes, which man may print as other
 * characters.
 */
function escapeInline(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('…', '...')
    .replaceAll('’', '\\(cq');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
