import { printType } from '../../ir/print-type.ts';
import { bindType } from '../bind-dims.ts';
import { type DimNames, mentionedIn } from '../dim-names.ts';
import type { FieldRead } from './field-read.ts';

/**
 * The names that sizes get when reads of the same fields become one, the first. Undefined where they cannot:
 * a type tells more than names that its own read gives, or mentions what only a block inside knows.
 */
export function commonNames(
  reads: readonly FieldRead[],
  { names, isHere }: { readonly names: DimNames; readonly isHere: (read: FieldRead) => boolean },
): ReadonlyMap<string, string> | undefined {
  const renamed = new Map<string, string>();
  const firsts = new Map<number, FieldRead>();
  for (const read of reads) {
    const { index } = read.read;
    const first = firsts.get(index);
    if (first !== undefined) {
      if (!addRenamed(read, first, { names, renamed })) return undefined;
      continue;
    }
    firsts.set(index, read);
    const given = givenBy(read, names);
    if (!isHere(read) && symbolsOf(read).some((symbol) => !given.includes(symbol)))
      return undefined;
  }
  return renamed;
}

const givenBy = ({ binding }: FieldRead, names: DimNames): readonly string[] =>
  binding === undefined ? [] : names.givenBy(binding);

const symbolsOf = ({ binding }: FieldRead): readonly string[] =>
  binding === undefined ? [] : mentionedIn(binding.variable);

/**
 * Returns true if the types of both reads are the same, except for names that the later one gives;
 * adds these to `renamed`.
 */
function addRenamed(
  { binding }: FieldRead,
  { binding: first }: FieldRead,
  { names, renamed }: { readonly names: DimNames; readonly renamed: Map<string, string> },
): boolean {
  const type = binding?.variable.type;
  const other = first?.variable.type;
  if (binding === undefined || type === undefined || other === undefined) return true;
  const given = names.givenBy(binding);
  const theirs = first === undefined ? [] : mentionedIn(first.variable);
  const own = mentionedIn(binding.variable);
  const changes = new Map<string, string>();
  for (const [i, symbol] of own.entries()) {
    const to = theirs[i];
    if (to !== undefined && to !== symbol && given.includes(symbol)) changes.set(symbol, to);
  }
  for (const [from, to] of changes) renamed.set(from, to);
  return printType(bindType(type, changes)) === printType(other);
}
