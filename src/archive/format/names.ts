import type { FileKind, LogName } from '../contract.ts';

const CHAIN = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z-[0-9a-f]{8}$/;
const BASE = /^base-(\d{8})-(\d{8}|end)$/;
const LOG = /^log-(\d{8})-(\d{8})-(\d{8}T\d{6}\.\d{3}Z)$/;

/** Renders a time as names contain it: `20261122T101503.123Z`. Names then sort by time. */
export function renderTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replaceAll(/[-:]/g, '');
}

function readTime(text: string): number {
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{3})Z$/.exec(text);
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** Returns the name of a chain that begins at a time. `random` is 4 bytes in hex. */
export function chainName(milliseconds: number, random: string): string {
  return `${renderTime(milliseconds)}-${random}`;
}

/** Reads when a chain began from its name. Returns undefined if it is not the name of a chain. */
export function chainBegin(name: string): number | undefined {
  if (!CHAIN.test(name)) return undefined;
  const began = readTime(name.slice(0, 20));
  return Number.isNaN(began) ? undefined : began;
}

/** Returns the name of a file within its chain. */
export function fileName(file: {
  kind: FileKind;
  base: number;
  number: number;
  generation: number;
  until: number;
}): string {
  switch (file.kind) {
    case 'base':
      return `base-${padded(file.base)}-${padded(file.number)}`;
    case 'base-end':
      return `base-${padded(file.base)}-end`;
    case 'log':
      return `log-${padded(file.generation)}-${padded(file.number)}-${renderTime(file.until)}`;
    default:
      return file.kind;
  }
}

function padded(value: number): string {
  return String(value).padStart(8, '0');
}

/** Reads the name of a file with log. Returns undefined for other names. */
export function readLogName(name: string): LogName | undefined {
  const [, generation, number, time] = LOG.exec(name) ?? [];
  if (generation === undefined || number === undefined || time === undefined) return undefined;
  const until = readTime(time);
  if (Number.isNaN(until)) return undefined;
  return { name, generation: Number(generation), number: Number(number), until };
}

/** Reads the number of the base from the name of one of its files. `part` is undefined for the end. */
export function readBaseName(name: string): { base: number; part: number | undefined } | undefined {
  const [, base, part] = BASE.exec(name) ?? [];
  if (base === undefined) return undefined;
  return { base: Number(base), part: part === 'end' ? undefined : Number(part) };
}

/** Reports whether the name is one of a chain's files. */
export function isFileName(name: string): boolean {
  return name === 'chain' || BASE.test(name) || readLogName(name) !== undefined;
}
