import { readFileSync } from 'node:fs';
import { TOP_PAGES } from '../.vitepress/outside.ts';

// The pages at the top of the repository, as pages of the site.

export default {
  paths: () =>
    Object.entries(TOP_PAGES).map(([file, page]) => ({
      params: { page },
      content: readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
        .replaceAll(/\]\(docs\//g, '](/')
        .replaceAll(/\]\(([A-Z]+\.md)/g, (link, name: string) =>
          TOP_PAGES[name] === undefined ? link : `](/project/${TOP_PAGES[name]}`,
        ),
    })),
};
