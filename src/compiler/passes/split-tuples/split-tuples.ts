import type { TypeInference } from '../../inference/type-inference.ts';
import { BlockTable, innerBlocks } from '../../ir/walk/block.ts';
import { letIn, projection, variableOf } from '../../ir/build.ts';
import type { Expr, FunctionExpr, LetExpr, ProjectionExpr, VarExpr } from '../../ir/expr.ts';
import { printType } from '../../ir/text/print-type.ts';
import { childrenOf, mapFunctions, postOrder, rewrite } from '../../ir/walk/visit.ts';
import { bindType, substituteSymbols } from '../dims/bind-dims.ts';
import { DimNames, mentionedIn } from '../dims/dim-names.ts';
import type { Pass } from '../pass.ts';

/**
 * The names that sizes get when reads of the same fields become one, the first. Undefined where they cannot:
 * a type tells more than names that its own read gives, or mentions what only a block inside knows.
 */
function commonNames(
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

/**
 * Reads all fields of a tuple where the first is read, if nothing reads the tuple itself after. The tuple is dropped
 * there, so that a field that nobody else has may be changed in place, and one that is read no more is free. In
 * A-normal form, before `plan-memory`.
 */
export const splitTuples: Pass = {
  name: 'split-tuples',
  run(module, { types }) {
    types.declare(module);
    return mapFunctions(module, (fn) => {
      const done = new Set<VarExpr>();
      let result = fn;
      for (let depth = 0; depth < MAX_DEPTH; depth++) {
        const groups = groupsOf(result, { types, done });
        if (groups.length === 0) break;
        result = merged(result, groups, types);
        for (const { tuple } of groups) done.add(tuple);
      }
      return result;
    });
  },
};

/** Tuples in tuples beyond this depth stay as they are. */
const MAX_DEPTH = 8;

/** The fields of a tuple that are read in a block and in those inside it. */
interface FieldGroup {
  readonly tuple: VarExpr;
  /** The let in whose place all are read. */
  readonly head: LetExpr;
  readonly fields: ReadonlyMap<number, VarExpr>;
  readonly reads: readonly FieldRead[];
  /** Names of sizes that become another one: reads of the same field had given each a name of its own. */
  readonly renamed: ReadonlyMap<string, string>;
}

interface GroupContext {
  readonly types: TypeInference;
  /** Tuples that were looked at before. */
  readonly done: ReadonlySet<VarExpr>;
}

function groupsOf(fn: FunctionExpr, { types, done }: GroupContext): readonly FieldGroup[] {
  if (!postOrder(fn.body).some(({ kind }) => kind === 'projection')) return [];
  const blocks = new BlockTable(fn.body);
  const whole = new Map<Expr, ReadonlyMap<Expr, number>>();
  for (const root of blocks.roots()) whole.set(root, lastWholeReads(blocks, root, whole));
  const around = placesOfBlocks(blocks);
  const names = new DimNames(fn, types.operators);
  const groups: FieldGroup[] = [];
  for (const [tuple, reads] of readsOf(blocks)) {
    if (done.has(tuple)) continue;
    const grouped = new Set<FieldRead>();
    for (const first of reads) {
      const { binding: head, place } = first;
      const isReadWhole = (whole.get(place.root)?.get(tuple) ?? -1) >= place.step;
      if (head === undefined || isReadWhole || grouped.has(first)) continue;
      const group = reads.filter((other) => isAtOrAfter(other.place, place, around));
      for (const read of group) grouped.add(read);
      const renamed = group.length > 1 && commonNames(group, { names, isHere: isIn(place) });
      if (renamed) {
        const fields = variablesOfFields(group, types);
        groups.push({ tuple, head, reads: group, fields, renamed });
      }
    }
  }
  // Of a field that is read once in place of several times the fields come in the next turn.
  const moved = new Set(groups.flatMap(({ reads }) => reads.map((read) => read.binding?.variable)));
  return groups.filter(({ tuple }) => !moved.has(tuple));
}

/** Reads of fields by tuple, those in blocks around others first. */
function readsOf(blocks: BlockTable): ReadonlyMap<VarExpr, FieldRead[]> {
  const found = new Map<VarExpr, FieldRead[]>();
  const add = (read: Expr, binding: LetExpr | undefined, place: Place): void => {
    if (read.kind !== 'projection' || read.tuple.kind !== 'var') return;
    const { tuple } = read;
    const reads = found.get(tuple) ?? [];
    reads.push({ tuple, read, binding, place });
    found.set(tuple, reads);
  };
  for (const root of blocks.roots().toReversed()) {
    const { steps, result } = blocks.of(root);
    let rest = root;
    for (const step of steps.keys()) {
      if (rest.kind !== 'let') break;
      add(rest.value, rest, { root, step });
      rest = rest.body;
    }
    add(result, undefined, { root, step: steps.length });
  }
  return found;
}

/** The step that each block lies in; none for those in several. */
function placesOfBlocks(blocks: BlockTable): ReadonlyMap<Expr, Place | undefined> {
  const places = new Map<Expr, Place | undefined>();
  for (const root of blocks.roots()) {
    const { steps, result } = blocks.of(root);
    for (const [step, { value }] of [...steps, { value: result }].entries()) {
      for (const inner of innerBlocks(value)) {
        places.set(inner, places.has(inner) ? undefined : { root, step });
      }
    }
  }
  return places;
}

/** Tells reads of the block that a place is in from those of blocks inside it. */
const isIn =
  ({ root }: Place) =>
  (read: FieldRead): boolean =>
    read.place.root === root;

/** Returns true if a place is in the block of another one or inside it, and not before it. */
function isAtOrAfter(
  place: Place,
  { root, step }: Place,
  around: ReadonlyMap<Expr, Place | undefined>,
): boolean {
  let at: Place | undefined = place;
  while (at !== undefined && at.root !== root) at = around.get(at.root);
  return at !== undefined && at.step >= step;
}

function variablesOfFields(
  reads: readonly FieldRead[],
  types: TypeInference,
): ReadonlyMap<number, VarExpr> {
  const fields = new Map<number, VarExpr>();
  for (const { read, binding } of reads) {
    if (fields.has(read.index)) continue;
    fields.set(read.index, binding?.variable ?? variableOf('field', types.of(read)));
  }
  return fields;
}

/** The last step of a block that reads a variable as a whole, in itself or in a block inside it. */
function lastWholeReads(
  blocks: BlockTable,
  root: Expr,
  inside: ReadonlyMap<Expr, ReadonlyMap<Expr, number>>,
): ReadonlyMap<Expr, number> {
  const { steps, result } = blocks.of(root);
  const last = new Map<Expr, number>();
  for (const [step, value] of [...steps.map((one) => one.value), result].entries()) {
    if (value.kind === 'var') last.set(value, step);
    if (value.kind !== 'projection') for (const child of childrenOf(value)) last.set(child, step);
    for (const inner of innerBlocks(value)) {
      for (const read of inside.get(inner)?.keys() ?? []) last.set(read, step);
    }
  }
  return last;
}

/** The function with the reads of each group in one place. */
function merged(
  fn: FunctionExpr,
  groups: readonly FieldGroup[],
  { operators }: TypeInference,
): FunctionExpr {
  const fieldOf = new Map<Expr, VarExpr>();
  const heads = new Map<Expr, FieldGroup[]>();
  const same = new Map<Expr, VarExpr>();
  for (const group of groups) {
    heads.set(group.head, [...(heads.get(group.head) ?? []), group]);
    for (const { read, binding } of group.reads) {
      const field = group.fields.get(read.index);
      if (field === undefined) continue;
      fieldOf.set(read, field);
      if (binding !== undefined) same.set(binding.variable, field);
    }
  }
  const body = rewrite(fn.body, (expr, original) => {
    const other = same.get(original) ?? fieldOf.get(original);
    if (other !== undefined) return other;
    if (expr.kind !== 'let' || original.kind !== 'let' || !fieldOf.has(original.value)) return expr;
    return (heads.get(original) ?? []).reduce<Expr>((rest, { tuple, fields }) => {
      return [...fields].reduceRight<Expr>(
        (inner, [index, variable]) => letIn(variable, projection(tuple, index), inner),
        rest,
      );
    }, expr.body);
  });
  const renamed = new Map(groups.flatMap((group) => [...group.renamed]));
  const result = { ...fn, body };
  return renamed.size === 0 ? result : substituteSymbols(result, renamed, { operators });
}

/** A read of a field of a tuple, and its place in the function. */
interface FieldRead {
  readonly tuple: VarExpr;
  readonly read: ProjectionExpr;
  /** The let that binds it; undefined for the result of a block. */
  readonly binding: LetExpr | undefined;
  readonly place: Place;
}

/** A step of the block that begins with an expression. */
interface Place {
  readonly root: Expr;
  readonly step: number;
}
