import { createHash } from 'node:crypto';
import { STYLESHEET } from './stylesheet.ts';

/** A file that pages load; its name changes with its content, so browsers may keep it for ever. */
export interface Resource {
  /** Below the base URL, from `/resources/`. */
  path: string;
  contentType: string;
  content: string;
}

/** A key in the accent colour, for the browser's tab. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2450c8"/>' +
  '<path d="M20 7a6 6 0 0 0-5.7 7.9L7 22.2V26h3.8v-2.6h2.6v-2.6H16l1.1-1.1A6 6 0 1 0 20 7Zm1.6 6a1.6 1.6 0 1 1 0-3.2 1.6 1.6 0 0 1 0 3.2Z" fill="#fff"/></svg>';

export const stylesheet = resource('pages', 'css', 'text/css;charset=utf-8', STYLESHEET);
export const icon = resource('icon', 'svg', 'image/svg+xml', ICON);

/** Every file that the pages load from this service. */
export const RESOURCES: readonly Resource[] = [stylesheet, icon];

function resource(name: string, extension: string, contentType: string, content: string): Resource {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  return { path: `/resources/${name}-${hash}.${extension}`, contentType, content };
}
