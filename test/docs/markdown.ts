// Functions that render rows and cells of Markdown tables.

export const row = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

export const head = (...cells: readonly string[]): string[] => [
  row(...cells),
  `|${cells.map(() => '---').join('|')}|`,
];

export const code = (text: string): string => `\`${text}\``;

export const escapePipes = (text: string): string => text.replaceAll('|', '\\|');
