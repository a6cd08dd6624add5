import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type Called, lastLine } from './call.ts';
import type { Container } from './containers.ts';
import type { DefinedService, Definition } from './definition.ts';
import { resolveImage } from './environment.ts';

const NO_ROOM = /no space left on device|disk quota exceeded/i;

const PORT_TAKEN = /address already in use|port is already allocated/i;

/**
 * Phrases that only engines and registries use. "not found" alone could also refer to a file, a program or a network.
 */
const NO_IMAGE =
  /pull access denied|manifest unknown|no such image|image not known|failed to resolve reference|initializing source|short-name|invalid reference format|\/v2\//i;

/**
 * Lines of compose programs that do not describe the error: progress, warnings, a summary, and the output of
 * `podman-compose` queries.
 */
const BESIDE_THE_FAULT =
  /^time="[^"]*" level=(warning|info)|^(Network|Volume|Container|Service|Image) \S+ +\w+$|^(Creating|Recreating|Starting|Pulling) .*\.\.\.|^Encountered errors while bringing up the project\.$|^Error: (inspecting object: no such|no container with name)/;

/**
 * Reads from the compose program's output why a container was not created, changed or started.
 *
 * @param container the container, if it exists nevertheless
 */
export function composeFault(
  { definition: { file }, settings }: { definition: Definition; settings: Settings },
  { name, image }: DefinedService,
  called: Called,
  container?: Container,
): IdkitError {
  const own = container?.error ?? '';
  const what =
    container?.state === 'running'
      ? `${name} is still running with its previous definition`
      : `${name} did not start`;
  const lines = findLines(`${called.stdout}\n${called.stderr}`);
  const taken = [...lines, own].findLast((line) => PORT_TAKEN.test(line));
  if (taken !== undefined) {
    return new IdkitError('IDKIT_PORT_TAKEN', `${what}, because one of its ports is in use: ${taken}`, {
      hints: [
        'stop the program that listens there, or set another port for this component in .env (see compose.yaml)',
      ],
    });
  }
  const full = [...lines, own].findLast((line) => NO_ROOM.test(line));
  if (full !== undefined) {
    return new IdkitError('IDKIT_NO_SPACE', `${what}, because a disk is full: ${full}`, {
      hints: ['free up space where the container engine keeps images, containers and volumes'],
    });
  }
  // If the engine stored an error with the container, the start failed after the image was found.
  const absent = own === '' ? lines.findLast((line) => NO_IMAGE.test(line)) : undefined;
  if (absent !== undefined) {
    const resolved = resolveImage(image, settings);
    const named = resolved === image ? image : `${image}, which is ${resolved}`;
    return new IdkitError('IDKIT_VERSION', `${what}, because its image is unavailable: ${absent}`, {
      hints: [
        `compose.yaml names ${named}; build or pull it, or name another image in .env`,
        ...(resolved.startsWith('localhost/idkit:')
          ? ['docs/operate/containers.md describes how to build it']
          : []),
      ],
    });
  }
  const why = own !== '' ? own : (findFault(lines) ?? lastLine(called));
  return new IdkitError('IDKIT_FAILED', `${what}: ${why}`, { hints: [`the definition is ${file}`] });
}

function findLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !BESIDE_THE_FAULT.test(line));
}

/**
 * Returns the last line of an error, with the line that introduces it. `podman-compose` prints its command after the
 * error.
 */
function findFault(lines: readonly string[]): string | undefined {
  const last = lines.findLastIndex((line) => /error|invalid|cannot|unknown/i.test(line));
  const leading = lines[last];
  if (leading?.endsWith(':') === true) return lines.slice(last).join(' ');
  return leading ?? lines.at(-1);
}
