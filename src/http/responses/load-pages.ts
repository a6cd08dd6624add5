type Pages = typeof import('../pages/index.ts');

let loading: Promise<Pages> | undefined;

/**
 * Loads the pages' code on first use, and the texts of a language on its first use. Keeps the promise, because every call
 * of `import()` takes time.
 */
export async function loadPages(locale: string): Promise<Pages> {
  loading ??= import('../pages/index.ts');
  const pages = await loading;
  await pages.loadTexts(locale);
  return pages;
}
