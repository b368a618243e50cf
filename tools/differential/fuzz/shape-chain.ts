import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { OnnxAttribute, OnnxNodeSpec } from '../../../src/testing/onnx-writer.ts';
import { writeOnnxModel } from '../../../src/testing/onnx-writer.ts';
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
  readonly #nodes: OnnxNodeSpec[] = [];
  readonly #initializers: Record<string, HostTensor> = {};
  readonly #pool: Sizes[] = [];
  #count = 0;

  constructor(seed: number) {
    this.#draws = new Draws(seed);
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
    const bytes = writeOnnxModel({
      opset: 17,
      nodes: this.#nodes,
      inputs: [{ name: 'x', shape: ['n', 'm', 3] }],
      outputs: outputs.map(({ name }) => name),
      initializers: this.#initializers,
    });
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
    const [float, half, rounded] = [this.#name(), this.#name(), this.#name()];
    const divisor = this.#draws.pick([2, 4]);
    const op = this.#draws.pick(['Floor', 'Ceil'] as const);
    const round = op === 'Floor' ? Math.floor : Math.ceil;
    this.#node('Cast', [from.name], float, { to: 1 });
    this.#node('Div', [float, this.#float(divisor)], half);
    this.#node(op, [half], rounded);
    this.#add('Cast', [rounded], {
      length: from.length,
      attributes: { to: 7 },
      evaluate: (sizes) => from.evaluate(sizes).map((x) => round(x / divisor) + 0),
    });
  }

  /** Where(Equal(a, b), c, a), as an exported Expand has it. */
  #choose(): void {
    const from = this.#draws.pick(this.#pool);
    const [value, other] = [this.#draws.below(4), 1 + this.#draws.below(3)];
    const equal = this.#name();
    this.#node('Equal', [from.name, this.#ints(value)], equal);
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
    const scalar = this.#name();
    this.#initializers[`${scalar}_at`] = HostTensor.from('int64', [], [at]);
    this.#node('Gather', [from.name, `${scalar}_at`], scalar);
    this.#add('Unsqueeze', [scalar, this.#ints(0)], {
      length: 1,
      evaluate: (sizes) => from.evaluate(sizes).slice(at, at + 1),
    });
  }

  /** The list with each size from 0 (or 1) to a few. */
  #small(from: Sizes, least = 0): Sizes {
    const raised = this.#name();
    this.#node('Max', [from.name, this.#ints(least)], raised);
    const name = this.#name();
    this.#node('Min', [raised, this.#ints(LARGEST_SIZE)], name);
    const clamp = (x: number): number => Math.min(Math.max(x, least), LARGEST_SIZE);
    return { ...from, name, evaluate: (sizes) => from.evaluate(sizes).map(clamp) };
  }

  #plain(): Output {
    const { name, length, evaluate } = this.#draws.pick(this.#pool);
    const result = this.#name();
    this.#node('Identity', [name], result);
    return { name: result, evaluate: (at) => ({ shape: [length], elements: evaluate(at) }) };
  }

  #constantOfShape(): Output {
    const size = this.#small(this.#draws.pick(this.#pool));
    const name = this.#name();
    this.#node('ConstantOfShape', [size.name], name, {
      value: HostTensor.from('float32', [1], [7]),
    });
    return { name, evaluate: (sizes) => filled(size.evaluate(sizes), 7) };
  }

  #expand(): Output {
    const size = this.#small(this.#draws.pick(this.#pool), 1);
    const name = this.#name();
    this.#node('Expand', [this.#float(5), size.name], name);
    return { name, evaluate: (sizes) => filled(size.evaluate(sizes), 5) };
  }

  #range(): Output {
    const size = this.#small(this.#draws.pick(this.#pool));
    const [scalar, name, at] = [this.#name(), this.#name(), this.#name()];
    for (const [initializer, value] of [
      [at, 0],
      [`${at}_one`, 1],
    ] as const) {
      this.#initializers[initializer] = HostTensor.from('int64', [], [value]);
    }
    this.#node('Gather', [size.name, at], scalar);
    this.#node('Range', [at, scalar, `${at}_one`], name);
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
    const end = this.#name();
    this.#node('Slice', [all.name, this.#ints(0), this.#ints(1)], end);
    const name = this.#name();
    this.#node('Slice', ['x', this.#ints(0), end, this.#ints(1)], name);
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
    const [shape, kept, target, name] = [this.#name(), this.#name(), this.#name(), this.#name()];
    this.#node('Shape', ['x'], shape);
    this.#node('Gather', [shape, this.#ints(axis)], kept);
    this.#node('ReduceProd', [shape], `${kept}_all`, { keepdims: 1 });
    const isRest = this.#draws.below(2) === 0;
    const rest = `${kept}_rest`;
    if (isRest) this.#node('Concat', [kept, this.#ints(-1)], target, { axis: 0 });
    else {
      this.#node('Max', [kept, this.#ints(1)], `${kept}_divisor`);
      this.#node('Div', [`${kept}_all`, `${kept}_divisor`], rest);
      this.#node('Concat', [kept, rest], target, { axis: 0 });
    }
    this.#node('Reshape', ['x', target], name, { allowzero: 0 });
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
    const name = this.#name();
    const value = `${name}_value`;
    const shape = Array.from({ length: from.length }, () => 1);
    this.#initializers[value] = HostTensor.from('float32', shape, [2]);
    this.#node('Tile', [value, repeats.name], name);
    return { name, evaluate: (sizes) => filled(repeats.evaluate(sizes), 2) };
  }

  #add(
    op: string,
    inputs: readonly string[],
    { attributes = {}, length, evaluate }: Pick<Sizes, 'length' | 'evaluate'> & WithAttributes,
  ): void {
    const all = SAMPLES.flatMap((sizes) => evaluate(sizes));
    if (all.some((value) => Math.abs(value) > LARGEST)) return;
    const name = this.#name();
    this.#node(op, inputs, name, attributes);
    this.#pool.push({ name, length, evaluate });
  }

  #node(
    op: string,
    inputs: readonly string[],
    output: string,
    attributes: Readonly<Record<string, OnnxAttribute>> = {},
  ): void {
    this.#nodes.push({ op, inputs, outputs: [output], name: `${op}_${output}`, attributes });
  }

  #names(parts: readonly Sizes[]): string[] {
    return parts.map(({ name }) => name);
  }

  #constant(value: number): Sizes {
    return { name: this.#ints(value), length: 1, evaluate: () => [value] };
  }

  #ints(...values: readonly number[]): string {
    const name = this.#name();
    this.#initializers[name] = HostTensor.from('int64', [values.length], values);
    return name;
  }

  #float(value: number): string {
    const name = this.#name();
    this.#initializers[name] = HostTensor.from('float32', [], [value]);
    return name;
  }

  #name(): string {
    return `t${this.#count++}`;
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
