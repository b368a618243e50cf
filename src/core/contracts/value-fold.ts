/**
 * The kinds of value, listed here only. Each side that values cross to says in its {@link ValueForms} what
 * it has for each of them, and each walk has a case for each that its side has: so a new kind is a type
 * error wherever it is not handled.
 */
type ValueKind =
  | 'null'
  | 'int'
  | 'float'
  | 'string'
  | 'dtype'
  | 'shape'
  | 'tensor'
  /** A tensor that stays on another side, by its name. */
  | 'handle'
  /** A constructor tag with fields; a tuple has tag 0. */
  | 'adt'
  /** A function with captured values. */
  | 'closure'
  /** A function of JavaScript. */
  | 'packed'
  /** An object of JavaScript that a program hands on. */
  | 'opaque'
  | 'storage'
  /** Integers of symbolic dimensions. */
  | 'heap'
  | 'vm';

/** The form that a side has for each kind; `never` where it has none. */
type ValueForms = Readonly<Record<ValueKind, unknown>>;

type AnyValue<Forms extends ValueForms> = Forms[ValueKind];

export type KindOf<Forms extends ValueForms> = {
  [Kind in ValueKind]: [Forms[Kind]] extends [never] ? never : Kind;
}[ValueKind];

/** How the values of a side are told apart and walked. */
export interface ValueSide<Forms extends ValueForms> {
  readonly kindOf: (value: AnyValue<Forms>) => KindOf<Forms>;
  /** Values that come before it; undefined for one that is converted where it stands. */
  readonly partsOf: (value: AnyValue<Forms>) => readonly AnyValue<Forms>[] | undefined;
}

/** The form of a value of each kind, given the forms of its parts. */
export type ValueCases<Forms extends ValueForms, Out> = {
  readonly [Kind in KindOf<Forms>]: (value: Forms[Kind], parts: readonly Out[]) => Out;
};

type AnyCase<Value, Out> = (value: Value, parts: readonly Out[]) => Out;

const NO_PARTS: readonly never[] = [];

/** Converts values of one side by the cases for their kinds; see {@link foldParts}. */
export function foldValues<Forms extends ValueForms, Out>(
  { kindOf, partsOf }: ValueSide<Forms>,
  cases: ValueCases<Forms, Out>,
): (root: AnyValue<Forms>) => Out {
  const all = cases as Readonly<Record<ValueKind, AnyCase<AnyValue<Forms>, Out>>>;
  return foldParts(partsOf, (value, parts) => all[kindOf(value)](value, parts));
}

/**
 * Converts values, parts first. Iterative, because a list is nested as deep as it is long. An object is
 * converted once, however often it is met, also under several roots: what is shared stays shared.
 */
export function foldParts<Value, Out>(
  partsOf: (value: Value) => readonly Value[] | undefined,
  make: AnyCase<Value, Out>,
): (root: Value) => Out {
  const done = new Map<Value, Out>();
  const convert = (value: Value, parts: readonly Out[]): Out => {
    const out = make(value, parts);
    if (typeof value === 'object' || typeof value === 'function') done.set(value, out);
    return out;
  };
  const settled = (value: Value): Out =>
    done.has(value) ? (done.get(value) as Out) : convert(value, NO_PARTS);
  return (root) => {
    if (partsOf(root) === undefined) return settled(root);
    const pending = [root];
    const entered = new Set<Value>();
    while (pending.length > 0) {
      const value = pending[pending.length - 1] as Value;
      const parts = partsOf(value) ?? NO_PARTS;
      if (done.has(value)) pending.pop();
      else if (entered.has(value)) {
        pending.pop();
        convert(value, parts.map(settled));
      } else {
        entered.add(value);
        for (const part of parts) {
          if (partsOf(part) !== undefined && !done.has(part)) pending.push(part);
        }
      }
    }
    return settled(root);
  };
}
