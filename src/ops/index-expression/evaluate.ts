import type { IndexExpression, IndexNode, IndexType, OperationNode } from './expression.ts';

/** Elements of an integer input, and its strides. */
interface IntegerInput {
  readonly elements: ArrayLike<number | bigint>;
  readonly strides: readonly number[];
}

/**
 * Computes expressions at one output element after another. A value is computed again only when a
 * coordinate that it depends on may have changed. Conditions are 0 and 1.
 */
export class IndexEvaluator {
  readonly #input: (index: number) => IntegerInput;
  /** Values of the cells: one for each axis, then one for each expression. */
  readonly #values: number[];
  readonly #cells = new Map<IndexNode, Cell>();
  /** For each axis, the steps that recompute values when its coordinate changes, in order. */
  readonly #steps: (() => void)[][];

  /** Begins at the first element of an output of `rank` axes. */
  constructor(rank: number, input: (index: number) => IntegerInput) {
    this.#input = input;
    this.#values = new Array<number>(rank).fill(0);
    this.#steps = this.#values.map(() => []);
  }

  /** A function that gives the value at the present coordinates. */
  watch(expression: IndexExpression): () => number {
    const values = this.#values;
    const { index } = this.#cell(expression);
    return () => values[index] ?? 0;
  }

  /** The axes whose coordinates a value depends on. */
  axesOf(expression: IndexExpression): readonly number[] {
    return this.#cell(expression).axes;
  }

  /** Sets a coordinate, and those of all later axes to 0. */
  move(axis: number, coordinate: number): void {
    const steps = this.#steps;
    this.#values[axis] = coordinate;
    for (let next = axis + 1; next < steps.length; next++) this.#values[next] = 0;
    for (let next = axis; next < steps.length; next++) {
      for (const step of steps[next] ?? []) step();
    }
  }

  #cell(node: IndexNode): Cell {
    const known = this.#cells.get(node);
    if (known !== undefined) return known;
    const made = this.#make(node);
    this.#cells.set(node, made);
    return made;
  }

  #make(node: IndexNode): Cell {
    switch (node.kind) {
      case 'coordinate':
        return { index: node.axis, axes: [node.axis] };
      case 'constant':
      case 'parameter':
        return this.#computed([], () => WRAP[node.type](node.value));
      case 'element': {
        const { elements, strides } = this.#input(node.input);
        const cells = node.operands.map((operand) => this.#cell(operand));
        return this.#computed(cells, () => {
          let place = 0;
          for (const [i, { index }] of cells.entries()) {
            place += (this.#values[index] ?? 0) * (strides[i] ?? 0);
          }
          return Math.min(Math.max(Number(elements[place] ?? 0), -(2 ** 31)), 2 ** 31 - 1);
        });
      }
      case 'operation':
        return this.#operation(node);
      default:
        return node satisfies never;
    }
  }

  #operation({ operator, operands, type }: OperationNode): Cell {
    const cells = operands.map((operand) => this.#cell(operand));
    const values = this.#values;
    if (operator === '&') {
      return this.#computed(cells, () => (cells.every(({ index }) => values[index] === 1) ? 1 : 0));
    }
    const [a = 0, b = 0, c = 0] = cells.map(({ index }) => index);
    const compute = OPERATIONS[operator];
    const wrap = WRAP[type];
    return this.#computed(cells, () =>
      wrap(compute(values[a] ?? 0, values[b] ?? 0, values[c] ?? 0)),
    );
  }

  #computed(cells: readonly Cell[], compute: () => number): Cell {
    const values = this.#values;
    const index = values.length;
    values.push(compute());
    const axes = [...new Set(cells.flatMap((cell) => cell.axes))];
    this.#steps[Math.max(...axes)]?.push(() => {
      values[index] = compute();
    });
    return { index, axes };
  }
}

interface Cell {
  readonly index: number;
  readonly axes: readonly number[];
}

const WRAP: Readonly<Record<IndexType, (x: number) => number>> = {
  u32: (x) => x >>> 0,
  i32: (x) => x | 0,
  bool: (x) => x,
};

/** Before wrapping: products have their low 32 bits, all else is exact. */
const OPERATIONS: Readonly<
  Record<Exclude<OperationNode['operator'], '&'>, (a: number, b: number, c: number) => number>
> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': Math.imul,
  '/': (a, b) => (b === 0 ? a : a / b),
  '%': (a, b) => (b === 0 ? 0 : a % b),
  '<': (a, b) => Number(a < b),
  '<=': (a, b) => Number(a <= b),
  '>=': (a, b) => Number(a >= b),
  '==': (a, b) => Number(a === b),
  min: (a, b) => Math.min(a, b),
  abs: (x) => Math.abs(x),
  clamp: (x, low, high) => Math.min(Math.max(x, low), high),
  select: (whenFalse, whenTrue, condition) => (condition === 1 ? whenTrue : whenFalse),
  u32: (x) => x,
  i32: (x) => x,
  'bitcast<u32>': (x) => x,
};
