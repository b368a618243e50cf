import { elementCount } from '../../../src/core/tensor/shape.ts';
import { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { OnnxAttribute } from '../../../src/testing/onnx-writer.ts';
import { GraphBuilder } from '../compare-onnx/model-builder.ts';
import { Draws } from '../draws.ts';

/** The sizes of one session in turn: each pair of `a` and `b` broadcasts, and `c` is any number. */
export const SIZES = [
  { a: 3, b: 1, c: 5 },
  { a: 1, b: 3, c: 2 },
  { a: 2, b: 2, c: 4 },
  { a: 3, b: 3, c: 1 },
] as const;

const INPUTS: Readonly<Record<string, readonly (number | 'a' | 'b' | 'c')[]>> = {
  x: ['a', 3],
  y: ['b', 3],
  z: ['c', 3],
  w: ['a', 'c', 3],
};
const STEPS = 24;
const MAX_ELEMENTS = 400;

type Dims = readonly number[];

/** A tensor, and its shape under each of {@link SIZES}. */
interface Value {
  readonly name: string;
  readonly shapes: readonly Dims[];
}

/** A sequence, and the shapes of its elements under each of {@link SIZES}. */
interface List {
  readonly name: string;
  readonly elements: readonly (readonly Dims[])[];
}

interface UnboundGraph {
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The arguments under each of {@link SIZES}; whole numbers, of which the graph makes whole numbers. */
  readonly inputs: readonly (readonly HostTensor[])[];
  /** The shapes of the outputs under each. */
  readonly shapes: readonly (readonly Dims[])[];
}

/**
 * An ONNX graph that does what breaks where sizes are names: broadcasting of two, `Expand` to the shape of another
 * tensor, padding to a multiple, sequences.
 */
export function unboundGraph(seed: number): UnboundGraph {
  const draft = new UnboundDraft(seed);
  for (let step = 0; step < STEPS; step++) draft.step();
  return draft.finish();
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

function broadcast(a: Dims, b: Dims): Dims | undefined {
  const rank = Math.max(a.length, b.length);
  const at = (dims: Dims, i: number) => dims[i - rank + dims.length] ?? 1;
  const pairs = range(rank).map((i) => [at(a, i), at(b, i)] as const);
  if (pairs.some(([m, n]) => m !== n && m !== 1 && n !== 1)) return undefined;
  return pairs.map(([m, n]) => (m === 1 ? n : m));
}

class UnboundDraft {
  readonly #draws: Draws;
  readonly #graph = new GraphBuilder();
  /** Names of values that are operands. */
  readonly #read = new Set<string>();
  readonly #values: Value[];
  readonly #lists: List[] = [];

  constructor(seed: number) {
    this.#draws = new Draws(seed);
    this.#values = Object.entries(INPUTS).map(([name, dims]) => ({
      name: this.#graph.input(name, 'float32', dims),
      shapes: SIZES.map((sizes) => dims.map((dim) => (typeof dim === 'number' ? dim : sizes[dim]))),
    }));
  }

  step(): void {
    this.#draws.pick([
      () => this.#unary(),
      () => this.#binary(),
      () => this.#binary(),
      () => this.#expand(),
      () => this.#expand(),
      () => this.#padToMultiple(),
      () => this.#reduce(),
      () => this.#transpose(),
      () => this.#concat(),
      () => this.#product(),
      () => this.#split(),
      () => this.#construct(),
      () => this.#change(),
      () => this.#change(),
      () => this.#at(),
      () => this.#join(),
      () => this.#join(),
    ])();
  }

  finish(): UnboundGraph {
    const made = this.#values.slice(Object.keys(INPUTS).length);
    const sinks = made.filter(({ name }) => !this.#read.has(name));
    const [x] = this.#values;
    const outputs = sinks.length === 0 && x ? [{ ...x, name: this.#node('Neg', ['x']) }] : sinks;
    const { bytes, text } = this.#graph.model(
      18,
      outputs.map(({ name }) => name),
    );
    const leaves = this.#values.slice(0, Object.keys(INPUTS).length);
    return {
      bytes,
      text,
      inputs: SIZES.map((_, i) => leaves.map(({ shapes }) => this.#tensor(shapes[i] ?? []))),
      shapes: SIZES.map((_, i) => outputs.map(({ shapes }) => shapes[i] ?? [])),
    };
  }

  #tensor(shape: Dims): HostTensor {
    const values = range(elementCount(shape)).map(() => this.#draws.below(5) - 2);
    return HostTensor.from('float32', shape, values);
  }

  #unary(): void {
    const x = this.#draws.pick(this.#values);
    this.#add(this.#draws.pick(['Neg', 'Abs', 'Relu']), [x.name], x.shapes);
  }

  #binary(): void {
    const [a, b] = [this.#draws.pick(this.#values), this.#draws.pick(this.#values)];
    const shapes = this.#each((i) => broadcast(a.shapes[i] ?? [], b.shapes[i] ?? []));
    const op = this.#draws.pick(['Add', 'Sub', 'Max', 'Where', 'Min']);
    if (shapes === undefined) return;
    if (op !== 'Where') return void this.#add(op, [a.name, b.name], shapes);
    const condition = this.#node('Less', [a.name, b.name]);
    this.#add('Where', [condition, b.name, a.name], shapes);
  }

  #expand(): void {
    const [x, like] = [this.#draws.pick(this.#values), this.#draws.pick(this.#values)];
    const shapes = this.#each((i) => broadcast(x.shapes[i] ?? [], like.shapes[i] ?? []));
    if (shapes !== undefined)
      this.#add('Expand', [x.name, this.#node('Shape', [like.name])], shapes);
  }

  /** The end of an axis is filled up, as windows of attention and of convolutions need it. */
  #padToMultiple(): void {
    const x = this.#draws.pick(this.#values);
    const rank = x.shapes[0]?.length ?? 0;
    if (rank === 0) return;
    const [axis, multiple] = [this.#draws.below(rank), 2 + this.#draws.below(3)];
    const size = this.#node('Gather', [this.#node('Shape', [x.name]), this.#ints(axis)]);
    const over = this.#node('Mod', [size, this.#ints(multiple)]);
    const lack = this.#node('Mod', [
      this.#node('Sub', [this.#ints(multiple), over]),
      this.#ints(multiple),
    ]);
    const parts = [
      ...range(rank).map(() => this.#ints(0)),
      ...range(rank).map((i) => (i === axis ? lack : this.#ints(0))),
    ];
    const pads = this.#node('Concat', parts, { axis: 0 });
    const padded = (dims: Dims) =>
      dims.map((dim, i) => (i === axis ? Math.ceil(dim / multiple) * multiple : dim));
    const filled = this.#add('Pad', [x.name, pads], x.shapes.map(padded));
    if (filled === undefined || this.#draws.below(2) === 0) return;
    // In windows: the axis becomes two.
    const shape = range(rank).flatMap((i) => (i === axis ? [-1, multiple] : []));
    const dims = range(rank).map((i) =>
      this.#node('Gather', [this.#node('Shape', [x.name]), this.#ints(i)]),
    );
    const target = this.#node(
      'Concat',
      [...dims.slice(0, axis), this.#ints(...shape), ...dims.slice(axis + 1)],
      { axis: 0 },
    );
    this.#add(
      'Reshape',
      [filled.name, target],
      filled.shapes.map((all) => [
        ...all.slice(0, axis),
        (all[axis] ?? 1) / multiple,
        multiple,
        ...all.slice(axis + 1),
      ]),
    );
  }

  #reduce(): void {
    const x = this.#draws.pick(this.#values);
    const rank = x.shapes[0]?.length ?? 0;
    if (rank === 0) return;
    const [axis, keepdims] = [this.#draws.below(rank), this.#draws.below(2)];
    const shapes = x.shapes.map((dims) =>
      keepdims === 1 ? dims.with(axis, 1) : dims.toSpliced(axis, 1),
    );
    this.#add(
      this.#draws.pick(['ReduceMax', 'ReduceMin', 'ReduceSum']),
      [x.name, this.#ints(axis)],
      shapes,
      { keepdims },
    );
  }

  #transpose(): void {
    const x = this.#draws.pick(this.#values);
    const perm = range(x.shapes[0]?.length ?? 0).toReversed();
    this.#add(
      'Transpose',
      [x.name],
      x.shapes.map((dims) => dims.toReversed()),
      { perm },
    );
  }

  #concat(): void {
    const [a, b] = [this.#draws.pick(this.#values), this.#draws.pick(this.#values)];
    const axis = this.#draws.below(a.shapes[0]?.length ?? 0);
    const shapes = this.#each((i) => joined([a.shapes[i] ?? [], b.shapes[i] ?? []], axis));
    if (shapes !== undefined) this.#add('Concat', [a.name, b.name], shapes, { axis });
  }

  /** A product with its own transpose, clipped so that numbers stay small. */
  #product(): void {
    const x = this.#draws.pick(this.#values);
    if (x.shapes[0]?.length !== 2) return;
    const product = this.#node('MatMul', [
      x.name,
      this.#node('Transpose', [x.name], { perm: [1, 0] }),
    ]);
    const bounds = [-8, 8].map((bound) => this.#constant(HostTensor.from('float32', [], [bound])));
    this.#add(
      'Clip',
      [product, ...bounds],
      x.shapes.map(([rows = 1]) => [rows, rows]),
    );
  }

  #split(): void {
    const x = this.#draws.pick(this.#values);
    const rank = x.shapes[0]?.length ?? 0;
    if (rank === 0) return;
    const [axis, size, keepdims] = [
      this.#draws.below(rank),
      1 + this.#draws.below(2),
      this.#draws.below(2),
    ];
    const isWhole = this.#draws.below(2) === 0;
    const drops = !isWhole && keepdims === 0;
    const step = isWhole ? size : 1;
    const parts = (dims: Dims): Dims[] =>
      range(Math.ceil((dims[axis] ?? 0) / step)).map((i) =>
        drops
          ? dims.toSpliced(axis, 1)
          : dims.with(axis, Math.min(step, (dims[axis] ?? 0) - i * step)),
      );
    const scalar = this.#constant(HostTensor.from('int64', [], [step]));
    const name = this.#node('SplitToSequence', isWhole ? [x.name, scalar] : [x.name], {
      axis,
      keepdims,
    });
    this.#lists.push({ name, elements: x.shapes.map(parts) });
  }

  #construct(): void {
    const parts = range(1 + this.#draws.below(3)).map(() => this.#draws.pick(this.#values));
    if (new Set(parts.map(({ shapes }) => shapes[0]?.length)).size > 1) return;
    const name = this.#node(
      'SequenceConstruct',
      parts.map((part) => part.name),
    );
    this.#lists.push({
      name,
      elements: SIZES.map((_, i) => parts.map(({ shapes }) => shapes[i] ?? [])),
    });
  }

  /** A sequence with an element more, or less. */
  #change(): void {
    const list = this.#anyList();
    if (list === undefined) return;
    const least = Math.min(...list.elements.map(({ length }) => length));
    const places = range(2 * least).map((place) => place - least);
    const place =
      places.length === 0 || this.#draws.below(3) === 0 ? undefined : this.#draws.pick(places);
    const at = place === undefined ? [] : [this.#constant(HostTensor.from('int64', [], [place]))];
    if (least > 0 && this.#draws.below(2) === 0) {
      const name = this.#node('SequenceErase', [list.name, ...at]);
      this.#lists.push({
        name,
        elements: list.elements.map((all) => all.toSpliced(place ?? -1, 1)),
      });
      return;
    }
    const rank = list.elements.flat()[0]?.length;
    const alike = this.#values.filter(
      ({ shapes }) => rank === undefined || shapes[0]?.length === rank,
    );
    if (alike.length === 0) return;
    const x = this.#draws.pick(alike);
    const name = this.#node('SequenceInsert', [list.name, x.name, ...at]);
    const elements = list.elements.map((all, i) =>
      all.toSpliced(place ?? all.length, 0, x.shapes[i] ?? []),
    );
    this.#lists.push({ name, elements });
  }

  #at(): void {
    const list = this.#anyList();
    if (list === undefined) return;
    const least = Math.min(...list.elements.map(({ length }) => length));
    if (least === 0) return;
    const place = this.#draws.below(2 * least) - least;
    const at = this.#constant(HostTensor.from('int64', [], [place]));
    this.#add(
      'SequenceAt',
      [list.name, at],
      list.elements.map((all) => all.at(place) ?? []),
    );
  }

  #join(): void {
    const list = this.#anyList();
    if (list === undefined) return;
    const rank = list.elements[0]?.[0]?.length ?? 0;
    const isNew = this.#draws.below(2);
    const axis = this.#draws.below(rank + isNew);
    const shapes = this.#each((i) => {
      const all = list.elements[i] ?? [];
      if (isNew === 0) return joined(all, axis);
      const isSame = all.every((dims) => String(dims) === String(all[0]));
      return isSame && all[0] !== undefined ? all[0].toSpliced(axis, 0, all.length) : undefined;
    });
    if (shapes !== undefined)
      this.#add('ConcatFromSequence', [list.name], shapes, { axis, new_axis: isNew });
  }

  #anyList(): List | undefined {
    return this.#lists.length === 0 ? undefined : this.#draws.pick(this.#lists);
  }

  /** The shape under each of the sizes; undefined where one has none. */
  #each(shapeOf: (i: number) => Dims | undefined): readonly Dims[] | undefined {
    const shapes = SIZES.flatMap((_, i) => [shapeOf(i)].filter((dims) => dims !== undefined));
    return shapes.length === SIZES.length ? shapes : undefined;
  }

  #add(
    op: string,
    inputs: readonly string[],
    shapes: readonly Dims[],
    attributes: Attributes = {},
  ): Value | undefined {
    if (shapes.some((dims) => elementCount(dims) > MAX_ELEMENTS || dims.length > 5))
      return undefined;
    const value = { name: this.#node(op, inputs, attributes), shapes };
    this.#values.push(value);
    return value;
  }

  #node(op: string, inputs: readonly string[], attributes: Attributes = {}): string {
    for (const input of inputs) this.#read.add(input);
    return this.#graph.add(op, inputs, attributes);
  }

  #constant(tensor: HostTensor): string {
    return this.#graph.constant(tensor);
  }

  #ints(...values: readonly number[]): string {
    return this.#graph.ints(...values);
  }
}

type Attributes = Readonly<Record<string, OnnxAttribute>>;

/** The shape of tensors in a row along an axis; undefined where they do not fit, or there are none. */
function joined(all: readonly Dims[], axis: number): Dims | undefined {
  const [first] = all;
  if (first === undefined || axis >= first.length) return undefined;
  const rest = (dims: Dims) => String(dims.with(axis, 0));
  if (all.some((dims) => dims.length !== first.length || rest(dims) !== rest(first)))
    return undefined;
  return first.with(
    axis,
    all.reduce((sum, dims) => sum + (dims[axis] ?? 0), 0),
  );
}
