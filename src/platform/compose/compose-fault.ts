import type { Settings } from '../../config/index.ts';
import { IdkitError } from '../../core/index.ts';
import { type Called, lastLine } from './call.ts';
import type { Container } from './containers.ts';
import type { DefinedService, Definition } from './definition.ts';
import { resolveImage } from './environment.ts';

const NO_ROOM = /no space left on device|disk quota exceeded/i;

const PORT_TAKEN = /address already in use|port is already allocated/i;

/** Words of engines and registries alone: files, programs and networks are "not found" too. */
const NO_IMAGE =
  /pull access denied|manifest unknown|no such image|image not known|failed to resolve reference|initializing source|short-name|invalid reference format|\/v2\//i;

/**
 * What compose programs write beside the fault: progress, warnings, that there was a fault, and what `podman-compose`
 * asks for before and after.
 */
const BESIDE_THE_FAULT =
  /^time="[^"]*" level=(warning|info)|^(Network|Volume|Container|Service|Image) \S+ +\w+$|^(Creating|Recreating|Starting|Pulling) .*\.\.\.|^Encountered errors while bringing up the project\.$|^Error: (inspecting object: no such|no container with name)/;

/**
 * What kept a container from being made, changed or started, of all that the compose program wrote. `container` is the
 * one that is there all the same.
 */
export function composeFault(
  { definition: { file }, settings }: { definition: Definition; settings: Settings },
  { name, image }: DefinedService,
  said: Called,
  container?: Container,
): IdkitError {
  const own = container?.error ?? '';
  const what = container?.state === 'running' ? `${name} runs unchanged` : `${name} did not start`;
  const lines = findLines(`${said.stdout}\n${said.stderr}`);
  const taken = [...lines, own].findLast((line) => PORT_TAKEN.test(line));
  if (taken !== undefined) {
    return new IdkitError('IDKIT_PORT_TAKEN', `${what}, a port of it is taken: ${taken}`, {
      hints: ['stop what listens there, or give the part another port in .env (see compose.yaml)'],
    });
  }
  const full = [...lines, own].findLast((line) => NO_ROOM.test(line));
  if (full !== undefined) {
    return new IdkitError('IDKIT_NO_SPACE', `${what}, a disk is full: ${full}`, {
      hints: ['make room where the container engine keeps images, containers and volumes'],
    });
  }
  // What the engine says of a container that it made is of its start: its image was there.
  const absent = own === '' ? lines.findLast((line) => NO_IMAGE.test(line)) : undefined;
  if (absent !== undefined) {
    const resolved = resolveImage(image, settings);
    const named = resolved === image ? image : `${image}, which is ${resolved}`;
    return new IdkitError('IDKIT_VERSION', `${what}, its image cannot be had: ${absent}`, {
      hints: [
        `compose.yaml names ${named}; build or pull it, or name another in .env`,
        ...(resolved.startsWith('localhost/idkit:')
          ? ['docs/operate/containers.md says how to make it']
          : []),
      ],
    });
  }
  const why = own !== '' ? own : (findFault(lines) ?? lastLine(said));
  return new IdkitError('IDKIT_FAILED', `${what}: ${why}`, { hints: [`the definition is ${file}`] });
}

function findLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !BESIDE_THE_FAULT.test(line));
}

/** The last line, with the one that leads to it; `podman-compose` writes what it ran after what went wrong. */
function findFault(lines: readonly string[]): string | undefined {
  const last = lines.findLastIndex((line) => /error|invalid|cannot|unknown/i.test(line));
  const leading = lines[last];
  if (leading?.endsWith(':') === true) return lines.slice(last).join(' ');
  return leading ?? lines.at(-1);
}
