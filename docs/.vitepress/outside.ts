import type { MarkdownRenderer } from 'vitepress';

/** The pages at the top of the repository, by their names on the site. */
export const TOP_PAGES: Readonly<Record<string, string>> = {
  'README.md': 'readme',
  'SECURITY.md': 'security',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
};

/** Makes links to files outside docs/ lead to their places on the site. */
export function leadOutside(md: MarkdownRenderer): void {
  md.core.ruler.push('outside', (state) => {
    for (const block of state.tokens)
      for (const token of block.children ?? []) {
        const href = token.type === 'link_open' ? token.attrGet('href') : null;
        const [, file, anchor = ''] = /^(?:\.\.\/)+([^#]+)(#.*)?$/.exec(href ?? '') ?? [];
        if (file === undefined) continue;
        const page = TOP_PAGES[file];
        if (page !== undefined) token.attrSet('href', `/project/${page}${anchor}`);
        else if (file.startsWith('examples/')) token.attrSet('href', `/${file}`);
      }
  });
}
