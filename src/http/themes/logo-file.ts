/** Maximum size of a logo in bytes. */
export const MOST_LOGO_BYTES = 262_144;
/** Maximum width and height of a PNG in pixels. */
const MOST_PIXELS = 2048;

const PNG_START = Buffer.from('89504e470d0a1a0a', 'hex');

/** What is wrong with the content of a logo. */
export interface LogoFault {
  kind: 'error' | 'warning';
  message: string;
}

/** Checks the content of `logo.png`: its signature, and the size in its first chunk (PNG §11.2.1). */
export function checkPng(content: Buffer): readonly LogoFault[] {
  const header = content.subarray(12, 16).toString('latin1');
  if (content.length < 24 || !content.subarray(0, 8).equals(PNG_START) || header !== 'IHDR')
    return [{ kind: 'error', message: 'is not a PNG image' }];
  const [width, height] = [content.readUInt32BE(16), content.readUInt32BE(20)];
  if (width === 0 || height === 0 || width > MOST_PIXELS || height > MOST_PIXELS)
    return [
      {
        kind: 'error',
        message: `is ${width} × ${height} pixels large, but a logo has 1 to ${MOST_PIXELS} pixels in each direction`,
      },
    ];
  return [];
}

/**
 * Checks the content of `logo.svg`. Browsers show it only as an image, so its scripts do not run and its links to other
 * files are not followed. A document type is rejected, because its entities can expand to a large text.
 */
export function checkSvg(content: Buffer): readonly LogoFault[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    return [{ kind: 'error', message: 'is not UTF-8' }];
  }
  const body = text.replace(/<!--[\s\S]*?-->/g, '');
  if (/<!(?:DOCTYPE|ENTITY)/i.test(body))
    return [{ kind: 'error', message: 'has a document type declaration, which is not allowed' }];
  if (!/^\s*(?:<\?xml[^>]*\?>)?\s*<svg[\s>]/.test(body))
    return [{ kind: 'error', message: 'is not an SVG image' }];
  if (!/<svg[^>]*\sxmlns\s*=\s*["']http:\/\/www\.w3\.org\/2000\/svg["']/.test(body))
    return [
      {
        kind: 'error',
        message: 'lacks xmlns="http://www.w3.org/2000/svg", so browsers do not show it as an image',
      },
    ];
  return [
    ...(/<script[\s>]|\son\w+\s*=/i.test(body)
      ? [{ kind: 'warning', message: 'contains a script, which browsers do not run in an image' } as const]
      : []),
    ...(/(?:href|src)\s*=\s*["']\s*(?:https?:)?\/\/|url\(\s*["']?\s*(?:https?:)?\/\//i.test(body)
      ? [
          {
            kind: 'warning',
            message: 'refers to another file, which browsers do not load in an image',
          } as const,
        ]
      : []),
  ];
}
