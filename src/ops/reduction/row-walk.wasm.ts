import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { inTurns } from '../../wasm/in-turns.ts';
import { increment, set, type Statement } from '../../wasm/statement.ts';
import type { ElementAccess } from '../lowering/element-access.ts';
import { type SumLoop, sumLoop } from './sum-loop.wasm.ts';

/** Elements that are computed with each other, and how vectors hold them. */
export interface RowShape {
  /** How many elements a row has. */
  readonly size: number;
  /** Elements from one of a row to its next. */
  readonly stride: number;
  /** `along`: a vector has four elements of one row; `across`: one of each of `rows` rows side by side. */
  readonly lanes: 'along' | 'across';
  /** Rows of a vector: 1 with `along`, otherwise at most four. */
  readonly rows: number;
}

/** The address of a row, and how its elements lie there. */
export interface RowOfElements {
  readonly base: Local;
  readonly access: ElementAccess;
}

/** A vector of a row as it is read, with what has to come before its use. */
type MapElements = (value: Expression, statements: Statement[]) => Expression;

/** Joins two vectors of partial results. */
export type Combine = (a: Expression, b: Expression) => Expression;

interface Fold {
  readonly combine: Combine;
  /** The identity of `combine`, in every lane. */
  readonly identity: Expression;
  /** Maps each vector before it is joined. */
  readonly map?: MapElements;
  /** `combine` adds floats; of long rows in double precision, block by block. */
  readonly isSum: boolean;
}

/** So many vectors a round, each with partial results of its own. */
const UNROLL = 4;
/** Rounds of a row that is long, if there are more. */
const LONG = 64;

/** Walks the rows of a tensor. */
export class RowWalk {
  readonly #shape: RowShape;

  constructor(shape: RowShape) {
    this.#shape = shape;
  }

  /**
   * Joins all elements of a row; `target` then has the result of each lane's row, `along` in all lanes.
   * The row begins at `base`.
   */
  fold(base: Local, target: Local, access: ElementAccess, fold: Fold): Statement[] {
    const pointer = w.local('i32');
    return [
      set(pointer, base),
      ...this.#join([{ pointer, access }], { ...fold, target }, ([place], count, statements) => {
        const read = place && access.read(place.pointer, place.offset, count);
        return read && (fold.map?.(read, statements) ?? read);
      }),
    ];
  }

  /** Stores what `map` makes of each element; a row of the output begins at `output`. */
  store(from: RowOfElements, to: RowOfElements, map: MapElements): Statement[] {
    const copy = copyOf(from, to, map);
    return [
      ...copy.begin,
      ...this.#walk(copy.operands, (places, _, count) => {
        const statements: Statement[] = [];
        copy.vector(places, count, statements);
        return statements;
      }),
    ];
  }

  /**
   * Stores what `map` makes of each element and joins that; `target` then has the result of each lane's
   * row, as of {@link fold}.
   */
  storeAndFold(
    from: RowOfElements,
    to: RowOfElements,
    fold: Required<Fold> & { readonly target: Local },
  ): Statement[] {
    const copy = copyOf(from, to, fold.map);
    return [...copy.begin, ...this.#join(copy.operands, fold, copy.vector)];
  }

  /** Joins what `vectorOf` gives for each vector, after its statements. */
  #join(
    operands: readonly WalkedOperand[],
    { combine, identity, target, isSum }: Fold & { readonly target: Local },
    vectorOf: VectorOf,
  ): Statement[] {
    const sums = w.locals(UNROLL, 'v128');
    const [a, b, c, d] = sums;
    const joined = combine(combine(a, b), combine(c, d));
    return [
      ...sums.map((sum) => set(sum, identity)),
      ...this.#walk(
        operands,
        (places, lane, count) => {
          const statements: Statement[] = [];
          const value = vectorOf(places, count, statements);
          const sum = sums[lane % UNROLL] ?? a;
          if (value === undefined) return [];
          return [...statements, set(sum, combine(sum, this.#known(value, identity, count)))];
        },
        isSum ? { sums, joined: [joined], longest: LONG } : undefined,
      ),
      set(target, joined),
      ...(this.#shape.lanes === 'along' ? acrossLanes(target, combine) : []),
    ];
  }

  /** The first elements of a vector, what changes nothing behind them. */
  #known(value: Expression, identity: Expression, count: number): Expression {
    const isWhole = count === 4 || this.#shape.lanes === 'across';
    return isWhole ? value : w.apply('v128.bitselect', value, identity, laneMask(count));
  }

  /** Vectors one after another, several a round; pointers move along. */
  #walk(
    operands: readonly WalkedOperand[],
    step: (places: readonly Place[], lane: number, count: number) => readonly Statement[],
    { longest = Infinity, ...sums }: Partial<SumLoop> = {},
  ): Statement[] {
    const { size, stride, lanes, rows } = this.#shape;
    const perVector = lanes === 'along' ? 4 : 1;
    const vectors = Math.floor(size / perVector);
    const count = lanes === 'along' ? 4 : rows;
    const elements = (vector: number) => vector * perVector * stride;
    const at = (index: number): Place[] =>
      operands.map(({ pointer, access }) => ({
        pointer,
        offset: elements(index) * access.byteLength,
      }));
    const round = (length: number): Statement[] => [
      ...inTurns(Array.from({ length }, (_, index) => step(at(index), index, count))),
      ...operands.map(({ pointer, access }) =>
        increment(pointer, elements(length) * access.byteLength),
      ),
    ];
    const index = w.local('i32');
    const rest = vectors % UNROLL;
    return [
      ...sumLoop(
        { sums: [], ...sums, index, rounds: Math.floor(vectors / UNROLL), longest },
        round(UNROLL),
      ),
      ...(rest > 0 ? round(rest) : []),
      ...(size % perVector > 0 ? step(at(0), rest, size % perVector) : []),
    ];
  }
}

/** A vector of a place in each row, with what has to come before its use. */
type VectorOf = (
  places: readonly Place[],
  count: number,
  statements: Statement[],
) => Expression | undefined;

/** Copies mapped vectors from row to row. */
function copyOf(from: RowOfElements, to: RowOfElements, map: MapElements) {
  const [source, target] = w.locals(2);
  const vector: VectorOf = ([read, written], count, statements) => {
    if (read === undefined || written === undefined) return undefined;
    const value = w.local('v128');
    const mapped = map(from.access.read(read.pointer, read.offset, count), statements);
    const stored = to.access.write(written.pointer, written.offset, { value, count });
    statements.push(set(value, mapped), ...stored);
    return value;
  };
  return {
    begin: [set(source, from.base), set(target, to.base)],
    operands: [
      { pointer: source, access: from.access },
      { pointer: target, access: to.access },
    ],
    vector,
  };
}

interface WalkedOperand {
  readonly pointer: Local;
  readonly access: ElementAccess;
}

interface Place {
  readonly pointer: Local;
  readonly offset: number;
}

/** A mask with ones in the first lanes. */
function laneMask(count: number): Expression {
  return w.vector(Int32Array.from({ length: 4 }, (_, lane) => (lane < count ? -1 : 0)));
}

/** All lanes joined, in each lane. */
function acrossLanes(value: Local, combine: Combine): Statement[] {
  return [
    [2, 3, 0, 1],
    [1, 0, 3, 2],
  ].map((lanes) => set(value, combine(value, w.shuffle32(value, value, lanes))));
}

/** The first element at an address in all lanes, or the first of each row. */
export function firstElements(
  { lanes, rows }: RowShape,
  base: Local,
  access: ElementAccess,
): Expression {
  return lanes === 'along' ? access.readSplat(base) : access.read(base, 0, rows);
}
