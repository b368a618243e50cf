import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { OnnxAttribute } from '../../../src/testing/onnx-writer.ts';
import { GraphBuilder } from '../compare-onnx/model-builder.ts';
import { Draws } from '../draws.ts';

/** Sizes of the input `x` with the dimensions (n, m, 3). */
interface ChainSizes {
  readonly n: number;
  readonly m: number;
}

/** An ONNX model that computes with sizes, and what its outputs are for sizes of its input. */
interface ShapeChain {
  readonly bytes: Uint8Array;
  readonly expected: (sizes: ChainSizes) => readonly ExpectedOutput[];
}

interface ExpectedOutput {
  readonly shape: readonly number[];
  /** Elements; absent where only the shape is of interest. */
  readonly elements?: readonly number[];
}

type Evaluate = (sizes: ChainSizes) => number[];

/** A list of integers that the model computes: int64 of rank 1. */
interface Sizes {
  readonly name: string;
  readonly length: number;
  readonly evaluate: Evaluate;
}

interface Output {
  readonly name: string;
  readonly evaluate: (sizes: ChainSizes) => ExpectedOutput;
}

const STEP_COUNT = 12;
/** Products of sizes stay what an int32 holds too. */
const LARGEST = 1e6;
/** Sizes of tensors that the model makes. */
const LARGEST_SIZE = 3;
const SAMPLES: readonly ChainSizes[] = [
  { n: 1, m: 1 },
  { n: 2, m: 3 },
  { n: 5, m: 4 },
  { n: 0, m: 2 },
];

/** Shape, Gather, Concat, arithmetic and casts at random, then what takes such sizes. */
export function shapeChain(seed: number): ShapeChain {
  const draft = new ChainDraft(seed);
  for (let step = 0; step < STEP_COUNT; step++) draft.step();
  return draft.finish();
}

class ChainDraft {
  readonly #draws: Draws;
  readonly #graph = new GraphBuilder();
  readonly #pool: Sizes[] = [];

  constructor(seed: number) {
    this.#draws = new Draws(seed);
    this.#graph.input('x', 'float32', ['n', 'm', 3]);
    this.#add('Shape', ['x'], { length: 3, evaluate: ({ n, m }) => [n, m, 3] });
  }

  step(): void {
    const steps = [
      () => this.#gather(),
      () => this.#slice(),
      () => this.#concat(),
      () => this.#arithmetic(),
      () => this.#arithmetic(),
      () => this.#halve(),
      () => this.#choose(),
      () => this.#product(),
      () => this.#throughScalar(),
    ];
    this.#draws.pick(steps)();
  }

  finish(): ShapeChain {
    const sinks = [
      () => this.#plain(),
      () => this.#plain(),
      () => this.#constantOfShape(),
      () => this.#expand(),
      () => this.#range(),
      () => this.#sliceOfInput(),
      () => this.#reshape(),
      () => this.#tile(),
    ];
    const outputs = [0, 1, 2].map(() => this.#draws.pick(sinks)());
    const { bytes } = this.#graph.model(
      17,
      outputs.map(({ name }) => name),
    );
    return { bytes, expected: (sizes) => outputs.map(({ evaluate }) => evaluate(sizes)) };
  }

  #gather(): void {
    const from = this.#draws.pick(this.#pool);
    const picked = Array.from({ length: 1 + this.#draws.below(3) }, () =>
      this.#draws.below(from.length),
    );
    const written = picked.map((i) => (this.#draws.below(2) === 0 ? i : i - from.length));
    this.#add('Gather', [from.name, this.#ints(...written)], {
      length: picked.length,
      evaluate: (sizes) => picked.map((i) => from.evaluate(sizes)[i] ?? 0),
    });
  }

  #slice(): void {
    const from = this.#draws.pick(this.#pool);
    const start = this.#draws.below(from.length);
    const end = start + 1 + this.#draws.below(from.length - start);
    this.#add('Slice', [from.name, this.#ints(start), this.#ints(end)], {
      length: end - start,
      evaluate: (sizes) => from.evaluate(sizes).slice(start, end),
    });
  }

  #concat(): void {
    const parts = [this.#draws.pick(this.#pool), this.#draws.pick(this.#pool)];
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length > 6) return;
    this.#add('Concat', this.#names(parts), {
      length,
      attributes: { axis: 0 },
      evaluate: (sizes) => parts.flatMap((part) => part.evaluate(sizes)),
    });
  }

  #arithmetic(): void {
    const a = this.#draws.pick(this.#pool);
    const partners = this.#pool.filter(({ length }) => length === 1 || length === a.length);
    const b =
      this.#draws.below(2) === 0
        ? this.#constant(1 + this.#draws.below(4))
        : this.#draws.pick(partners);
    const op = this.#draws.pick(Object.keys(ARITHMETIC));
    const compute = ARITHMETIC[op];
    if (compute === undefined) return;
    const divides = op === 'Div' || op === 'Mod';
    if (divides && !SAMPLES.every((sizes) => b.evaluate(sizes).every((x) => x > 0))) return;
    if (divides && !SAMPLES.every((sizes) => a.evaluate(sizes).every((x) => x >= 0))) return;
    this.#add(op, this.#names([a, b]), {
      length: Math.max(a.length, b.length),
      evaluate: (sizes) => {
        const right = b.evaluate(sizes);
        return a.evaluate(sizes).map((x, i) => compute(x, right[i % right.length] ?? 0));
      },
    });
  }

  /** As exporters write a division that is rounded up or down: through float32. */
  #halve(): void {
    const from = this.#draws.pick(this.#pool);
    const divisor = this.#draws.pick([2, 4]);
    const op = this.#draws.pick(['Floor', 'Ceil'] as const);
    const round = op === 'Floor' ? Math.floor : Math.ceil;
    const float = this.#graph.add('Cast', [from.name], { to: 1 });
    const half = this.#graph.add('Div', [float, this.#graph.float(divisor)]);
    this.#add('Cast', [this.#graph.add(op, [half])], {
      length: from.length,
      attributes: { to: 7 },
      evaluate: (sizes) => from.evaluate(sizes).map((x) => round(x / divisor) + 0),
    });
  }

  /** Where(Equal(a, b), c, a), as an exported Expand has it. */
  #choose(): void {
    const from = this.#draws.pick(this.#pool);
    const [value, other] = [this.#draws.below(4), 1 + this.#draws.below(3)];
    const equal = this.#graph.add('Equal', [from.name, this.#ints(value)]);
    this.#add('Where', [equal, this.#ints(other), from.name], {
      length: from.length,
      evaluate: (sizes) => from.evaluate(sizes).map((x) => (x === value ? other : x)),
    });
  }

  #product(): void {
    const from = this.#draws.pick(this.#pool);
    this.#add('ReduceProd', [from.name], {
      length: 1,
      attributes: { keepdims: 1 },
      evaluate: (sizes) => [from.evaluate(sizes).reduce((a, b) => a * b, 1)],
    });
  }

  /** An element as a scalar, and back. */
  #throughScalar(): void {
    const from = this.#draws.pick(this.#pool);
    const at = this.#draws.below(from.length);
    const scalar = this.#graph.add('Gather', [from.name, this.#graph.int(at)]);
    this.#add('Unsqueeze', [scalar, this.#ints(0)], {
      length: 1,
      evaluate: (sizes) => from.evaluate(sizes).slice(at, at + 1),
    });
  }

  /** The list with each size from 0 (or 1) to a few. */
  #small(from: Sizes, least = 0): Sizes {
    const raised = this.#graph.add('Max', [from.name, this.#ints(least)]);
    const name = this.#graph.add('Min', [raised, this.#ints(LARGEST_SIZE)]);
    const clamp = (x: number): number => Math.min(Math.max(x, least), LARGEST_SIZE);
    return { ...from, name, evaluate: (sizes) => from.evaluate(sizes).map(clamp) };
  }

  #plain(): Output {
    const { name, length, evaluate } = this.#draws.pick(this.#pool);
    const result = this.#graph.add('Identity', [name]);
    return { name: result, evaluate: (at) => ({ shape: [length], elements: evaluate(at) }) };
  }

  #constantOfShape(): Output {
    const size = this.#small(this.#draws.pick(this.#pool));
    const value = HostTensor.from('float32', [1], [7]);
    const name = this.#graph.add('ConstantOfShape', [size.name], { value });
    return { name, evaluate: (sizes) => filled(size.evaluate(sizes), 7) };
  }

  #expand(): Output {
    const size = this.#small(this.#draws.pick(this.#pool), 1);
    const name = this.#graph.add('Expand', [this.#graph.float(5), size.name]);
    return { name, evaluate: (sizes) => filled(size.evaluate(sizes), 5) };
  }

  #range(): Output {
    const size = this.#small(this.#draws.pick(this.#pool));
    const zero = this.#graph.int(0);
    const scalar = this.#graph.add('Gather', [size.name, zero]);
    const name = this.#graph.add('Range', [zero, scalar, this.#graph.int(1)]);
    return {
      name,
      evaluate: (sizes) => {
        const [limit = 0] = size.evaluate(sizes);
        return { shape: [limit], elements: Array.from({ length: limit }, (_, i) => i) };
      },
    };
  }

  #sliceOfInput(): Output {
    const all = this.#small(this.#draws.pick(this.#pool));
    const end = this.#graph.add('Slice', [all.name, this.#ints(0), this.#ints(1)]);
    const name = this.#graph.add('Slice', ['x', this.#ints(0), end, this.#ints(1)]);
    return {
      name,
      evaluate: (sizes) => ({
        shape: [sizes.n, Math.min(all.evaluate(sizes)[0] ?? 0, sizes.m), 3],
      }),
    };
  }

  /** One axis as it is, the rest in one. */
  #reshape(): Output {
    const axis = this.#draws.below(3);
    const shape = this.#graph.add('Shape', ['x']);
    const kept = this.#graph.add('Gather', [shape, this.#ints(axis)]);
    const all = this.#graph.add('ReduceProd', [shape], { keepdims: 1 });
    const divisor = this.#graph.add('Max', [kept, this.#ints(1)]);
    const isRest = this.#draws.below(2) === 0;
    const rest = isRest ? this.#ints(-1) : this.#graph.add('Div', [all, divisor]);
    const target = this.#graph.add('Concat', [kept, rest], { axis: 0 });
    const name = this.#graph.add('Reshape', ['x', target], { allowzero: 0 });
    return {
      name,
      evaluate: ({ n, m }) => {
        const size = [n, m, 3][axis] ?? 1;
        return { shape: [size, (n * m * 3) / size] };
      },
    };
  }

  #tile(): Output {
    const from = this.#draws.pick(this.#pool);
    const repeats = this.#small(from);
    const shape = Array.from({ length: from.length }, () => 1);
    const value = this.#graph.constant(HostTensor.from('float32', shape, [2]));
    const name = this.#graph.add('Tile', [value, repeats.name]);
    return { name, evaluate: (sizes) => filled(repeats.evaluate(sizes), 2) };
  }

  #add(
    op: string,
    inputs: readonly string[],
    { attributes = {}, length, evaluate }: Pick<Sizes, 'length' | 'evaluate'> & WithAttributes,
  ): void {
    const all = SAMPLES.flatMap((sizes) => evaluate(sizes));
    if (all.some((value) => Math.abs(value) > LARGEST)) return;
    this.#pool.push({ name: this.#graph.add(op, inputs, attributes), length, evaluate });
  }

  #names(parts: readonly Sizes[]): string[] {
    return parts.map(({ name }) => name);
  }

  #constant(value: number): Sizes {
    return { name: this.#ints(value), length: 1, evaluate: () => [value] };
  }

  #ints(...values: readonly number[]): string {
    return this.#graph.ints(...values);
  }
}

interface WithAttributes {
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
}

const ARITHMETIC: Readonly<Record<string, (a: number, b: number) => number>> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => Math.floor(a / b),
  Mod: (a, b) => a % b,
  Max: (a, b) => Math.max(a, b),
  Min: (a, b) => Math.min(a, b),
};

function filled(shape: readonly number[], value: number): ExpectedOutput {
  const count = shape.reduce((product, dim) => product * dim, 1);
  return { shape, elements: Array.from({ length: count }, () => value) };
}
