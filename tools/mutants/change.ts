import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A piece of a file that is replaced. */
export interface Change {
  /** Of the file and of what is replaced. */
  readonly id: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** The mutator that made it, or `by hand`. */
  readonly kind: string;
  /** What goes wrong by a change that was made by hand. */
  readonly effect?: string;
}

export function makeChange(change: Omit<Change, 'id'>): Change {
  const { file, start, end, text } = change;
  const hash = createHash('sha256').update(JSON.stringify([file, start, end, text]));
  return { id: hash.digest('hex').slice(0, 8), ...change };
}

/** A source with the change in it. */
export function planted(source: string, { start, end, text }: Change): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** The first folder of `src/`, or `shaders`. */
export function roomOf(file: string): string {
  const [first = '', room = ''] = file.split('/');
  return first === 'src' ? room : first;
}

const NO_PRODUCT = /\.(test|cases|d)\.ts$|(^|\/)testing\//;
/** Written by a script from the table of operators. */
const GENERATED: ReadonlySet<string> = new Set(['src/program/operators.ts']);

function filesOf(root: string, folder: string, extension: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith(extension))
    .sort();
}

/** The TypeScript that ships. */
export function productFiles(root: string): string[] {
  return filesOf(root, 'src', '.ts').filter(
    (file) => !NO_PRODUCT.test(file) && !GENERATED.has(file),
  );
}

/** A hash of all files that changes are made in. */
export function sourcesHash(root: string): string {
  const hash = createHash('sha256');
  for (const file of [...productFiles(root), ...filesOf(root, 'shaders', '.wgsl')]) {
    hash.update(JSON.stringify([file, readFileSync(join(root, file), 'utf8')]));
  }
  return hash.digest('hex').slice(0, 16);
}
