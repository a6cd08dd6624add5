import { createHash } from 'node:crypto';
import { IdkitError, type Secret } from '../../core/index.ts';
import type { SealedList, SetHandle, SetProblem } from '../contract.ts';
import { SET_FILES } from '../contract.ts';
import { damaged, printable, problemOf } from '../faults.ts';
import { CHECKSUMS_MAX_BYTES, parseChecksums, renderChecksums } from '../set/checksums.ts';
import { parseSetName } from '../set/names.ts';
import { decryptEnvironment, LONGEST_MESSAGE, messageFault } from './environment.ts';
import { encryptMessage, inspectMessage, openMessage } from './message.ts';

const FILE = SET_FILES.seal;

/** Maximum size in bytes. The encrypted text of a seal has two lines. */
const SEAL_MAX_BYTES = 64 * 1024;

/**
 * Creates the seal of a set. `gpg --decrypt seal.gpg | sha256sum -c` checks it. A comment in it holds the set's name,
 * so that one set cannot be passed off as another.
 */
export async function makeSeal(name: string, sha256: string, passphrase: Secret): Promise<Uint8Array> {
  const text = `# set ${name}\n${renderChecksums([{ name: SET_FILES.checksums, sha256 }])}`;
  return encryptMessage(Buffer.from(text), passphrase);
}

/**
 * Reads the checksums of a set once and checks its seal, before any other file of the set is trusted. A missing seal is
 * only a note here: `judgeUnsealed` decides from the other files whether the set should have one.
 *
 * @param passphrase without it, the seal is not decrypted
 */
export async function checkSeal(set: SetHandle, passphrase: Secret | undefined): Promise<SealedList> {
  const problems: SetProblem[] = [];
  const notes: string[] = [];
  const list = await attempt(SET_FILES.checksums, problems, async () => {
    const text = await set.read(SET_FILES.checksums, CHECKSUMS_MAX_BYTES);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { entries: parseChecksums(text), bytes: text.length, sha256 };
  });
  const read = { problems, notes, ...(list === undefined ? {} : { list }) };
  if (!set.names.includes(FILE)) {
    notes.push('the set is unsealed, so idkit cannot detect whether someone changed it');
    return { ...read, seal: 'unsealed' };
  }
  const message = await attempt(FILE, problems, () => set.read(FILE, SEAL_MAX_BYTES));
  if (message === undefined) return { ...read, seal: 'broken' };
  if (list !== undefined) list.bytes += message.length;
  if (passphrase === undefined) {
    const shape = await inspectMessage(message, FILE);
    if (shape.outcome === 'message') notes.push(`${FILE} was not decrypted because no passphrase was given`);
    else problems.push(problemOf(FILE, messageFault(FILE, shape)));
    return { ...read, seal: shape.outcome === 'damaged' ? 'broken' : 'not checked' };
  }
  const opened = await attempt(FILE, problems, () => openSeal(set, message, passphrase));
  if (opened === undefined) return { ...read, seal: problems.some(isDamage) ? 'broken' : 'not checked' };
  if (list === undefined) return { ...read, seal: 'broken' };
  const held = await attempt(FILE, problems, async () => compareSeal(opened, list.sha256, set.name));
  if (held === undefined) return { ...read, seal: 'broken' };
  if (held.name !== set.name) notes.push(`the set was created with the name ${held.name}`);
  return { ...read, seal: 'holds' };
}

/** @throws IDKIT_DAMAGED, IDKIT_CREDENTIALS, IDKIT_VERSION */
async function openSeal(set: SetHandle, message: Uint8Array, passphrase: Secret): Promise<Uint8Array> {
  const opened = await openMessage(message, passphrase, FILE, SEAL_MAX_BYTES);
  if (opened.outcome === 'opened') return opened.bytes;
  if (opened.outcome !== 'damaged' && (await opensEnvironment(set, passphrase)))
    throw damaged(FILE, `it cannot be decrypted with the passphrase that decrypts ${SET_FILES.environment}`);
  throw messageFault(FILE, opened);
}

/**
 * Returns true if the passphrase decrypts env.gpg. Such a passphrase is correct, so a seal that it does not decrypt was
 * changed.
 */
async function opensEnvironment(set: SetHandle, passphrase: Secret): Promise<boolean> {
  if (!set.names.includes(SET_FILES.environment)) return false;
  const problems: SetProblem[] = [];
  const message = await attempt(SET_FILES.environment, problems, () =>
    set.read(SET_FILES.environment, LONGEST_MESSAGE),
  );
  return message !== undefined && (await decryptEnvironment(message, passphrase)).outcome === 'opened';
}

/** @throws IDKIT_DAMAGED if `text` is not a seal, or is the seal of another set */
function compareSeal(text: Uint8Array, sha256: string, name: string): { name: string } {
  const sealed = parseSeal(text);
  // The operator can give the directory a name that is not a time.
  if (parseSetName(name) !== undefined && sealed.name !== name)
    throw new IdkitError('IDKIT_DAMAGED', `${FILE}: it is the seal of the set ${printable(sealed.name)}`, {
      hints: ['if you renamed the set’s directory, restore its old name'],
    });
  if (sealed.sha256 !== sha256)
    throw damaged(
      FILE,
      `it does not match ${SET_FILES.checksums}: the set changed after it was sealed, or the seal belongs to another set`,
    );
  return { name: sealed.name };
}

const HASH_LINE = /^([0-9A-Fa-f]{64}) [ *]?(?:\.\/)?checksums\.sha256$/;
const NAME_LINE = /^# set ([^/\0]+)$/;

/** Accepts the lines in either order and with either kind of line end, because a set can be sealed with other tools. */
function parseSeal(text: Uint8Array): { name: string; sha256: string } {
  const lines = Buffer.from(text)
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '');
  const sha256 = lines.map((line) => HASH_LINE.exec(line)?.[1]).find(Boolean);
  const name = lines.map((line) => NAME_LINE.exec(line)?.[1]).find(Boolean);
  if (lines.length !== 2 || name === undefined || sha256 === undefined)
    throw damaged(
      FILE,
      `it is not a seal, which has the line "# set NAME" and one line for ${SET_FILES.checksums}`,
    );
  return { name, sha256: sha256.toLowerCase() };
}

const isDamage = ({ code }: SetProblem) => code === 'IDKIT_DAMAGED';

/** Runs `work`. If the set has a fault, adds it to the problems and returns undefined. */
async function attempt<T>(
  file: string,
  problems: SetProblem[],
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    problems.push(problemOf(file, error));
    return undefined;
  }
}
