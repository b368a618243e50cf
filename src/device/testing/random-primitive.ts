import type { DType } from '../../core/tensor/dtype.ts';
import type {
  Attributes,
  ConcreteTensorType,
  OperatorCall,
  PrimitiveFunction,
} from '../../core/contracts/primitive-function.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { inferConcreteCall } from '../../ops/infer-concrete-call.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';

/** A primitive function with static shapes, and the types of all its values. */
interface RandomPrimitive {
  readonly primitive: PrimitiveFunction;
  readonly params: readonly ConcreteTensorType[];
}

/**
 * A fused group of one to seven operators as a compiler might make it: elementwise chains,
 * injective ones and at most one anchor, in any order.
 */
export function randomPrimitive(name: string, random: () => number): RandomPrimitive {
  const draft = new Draft(random);
  const rank = draft.below(5);
  let current = draft.param(Array.from({ length: rank }, () => 1 + draft.below(6)));
  const length = 1 + draft.below(7);
  const anchorAt = draft.below(length * 2);
  for (let step = 0; step < length; step++) {
    current = step === anchorAt ? draft.anchor(current) : draft.fusable(current);
  }
  return draft.build(name);
}

/** A parameter (negative, counted from -1) or a call (from 0), until parameters are all known. */
type Value = number;

const UNARY = ['relu', 'sigmoid', 'tanh', 'neg', 'abs', 'erf'] as const;
const BINARY = ['add', 'sub', 'mul', 'maximum', 'minimum'] as const;

class Draft {
  readonly #random: () => number;
  readonly #params: ConcreteTensorType[] = [];
  readonly #calls: { op: string; inputs: readonly Value[]; attributes: Attributes }[] = [];
  readonly #types: ConcreteTensorType[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  param(shape: Shape, dtype: DType = 'float32'): Value {
    this.#params.push({ dtype, shape });
    return -this.#params.length;
  }

  fusable(value: Value): Value {
    const kinds = [
      () => this.#call(this.#pick(UNARY), [value]),
      () => this.#call('leaky_relu', [value], { alpha: 0.25 }),
      () => this.#call('clip', [value], { min: -0.5, max: 0.75 }),
      () => this.#call(this.#pick(BINARY), [value, this.#companion(value)]),
      () => this.#call(this.#pick(BINARY), [this.#companion(value), value]),
      () => this.#selected(value),
      () => this.#call(this.#pick(BINARY), [value, this.#call(this.#pick(UNARY), [value])]),
      () => this.#injective(value),
      () => this.#injective(value),
    ];
    return this.#pick(kinds)();
  }

  anchor(value: Value): Value {
    const { shape } = this.#type(value);
    const rank = shape.length;
    if (rank === 0) return this.#call('reduce_sum', [value]);
    const columns = shape.at(-1) ?? 1;
    const kinds = [
      () => this.#call('softmax', [value], { axis: this.below(rank) }),
      () => this.#call('reduce_mean', [value], { axes: [this.below(rank)], keepdims: true }),
      () => this.#call('matmul', [value, this.param([columns, 1 + this.below(9)])]),
      () => this.#call('matmul', [value, this.#unpacked([columns, 1 + this.below(9)])]),
      () => this.#call('layer_norm', [value]),
    ];
    if (rank === 2) kinds.push(() => this.#gemm(value, columns));
    if (rank === 4) kinds.push(() => this.#convolution(value, shape[1] ?? 1));
    return this.#pick(kinds)();
  }

  build(name: string): RandomPrimitive {
    const index = (value: Value): number => (value < 0 ? -value - 1 : this.#params.length + value);
    const last = this.#calls.length - 1;
    const results = [last];
    if (last > 0 && this.below(3) === 0) results.push(this.below(last));
    const body = this.#calls.map(
      ({ op, inputs, attributes }): OperatorCall => ({ op, inputs: inputs.map(index), attributes }),
    );
    const primitive: PrimitiveFunction = {
      name,
      params: this.#params,
      body,
      results: results.map((value) => ({ value: index(value), type: this.#type(value) })),
    };
    return { primitive, params: this.#params };
  }

  #call(op: string, inputs: readonly Value[], attributes: Attributes = {}): Value {
    const types = inputs.map((input) => this.#type(input));
    const inferred = inferConcreteCall(CORE_OPERATORS.require(op), types, attributes);
    this.#calls.push({ op, inputs, attributes: inferred.attributes });
    this.#types.push(inferred.output);
    return this.#calls.length - 1;
  }

  #type(value: Value): ConcreteTensorType {
    const type = value < 0 ? this.#params[-value - 1] : this.#types[value];
    if (type === undefined) throw new Error(`no value ${value}`);
    return type;
  }

  #pick<T>(list: readonly T[]): T {
    const item = list[this.below(list.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Something to combine a value with: itself, or a parameter that may be broadcast. */
  #companion(value: Value): Value {
    const { shape } = this.#type(value);
    if (this.#params.length > 4 || this.below(4) === 0) return value;
    const dims = shape.map((dim) => (this.below(3) === 0 ? 1 : dim));
    return this.param(dims.slice(this.below(dims.length + 1)));
  }

  /** Weights as a kernel may have to unpack them. */
  #unpacked(shape: Shape): Value {
    if (this.below(2) === 0) {
      return this.#call('cast', [this.param(shape, 'float16')], { to: 'float32' });
    }
    const scale = this.param(this.below(2) === 0 ? [] : shape.slice(-1));
    return this.#call('dequantize', [this.param(shape, 'int8'), scale, this.param([], 'int8')]);
  }

  #selected(value: Value): Value {
    const other = this.#companion(value);
    if (this.#params.length > 4) return this.#call('relu', [value]);
    const { shape } = this.#type(value);
    const condition = this.#call('less', [this.param(shape), this.param([])]);
    return this.#call('where', [this.#call('logical_not', [condition]), value, other]);
  }

  #gemm(value: Value, columns: number): Value {
    const outputs = 1 + this.below(9);
    const inputs = [value, this.param([outputs, columns]), this.param([outputs])];
    return this.#call('gemm', inputs, { trans_b: true, alpha: 0.5 });
  }

  #convolution(value: Value, channels: number): Value {
    const outputs = 1 + this.below(5);
    const inputs = [value, this.param([outputs, channels, 3, 3]), this.param([outputs])];
    return this.#call('conv2d', inputs, { pads: [1, 1, 1, 1] });
  }

  #injective(value: Value): Value {
    const { shape } = this.#type(value);
    const rank = shape.length;
    if (rank === 0 || elementCount(shape) > 4000) return this.#call('neg', [value]);
    const axis = this.below(rank);
    const kinds = [
      () =>
        this.#call('transpose', [value], {
          perm: shape.map((_, i) => (i + 1 + axis) % rank),
        }),
      () => this.#call('reshape', [value], { shape: [elementCount(shape)] }),
      () => this.#call('reshape', [value], { shape: [...shape].reverse() }),
      () => this.#call('broadcast_to', [value], { shape: [2, ...shape] }),
      () => this.#call('concat', [value, value], { axis }),
      () =>
        this.#call('slice', [value], {
          starts: shape.map((dim, i) => (i === axis ? dim - 1 : 0)),
          ends: shape.map((dim, i) => (i === axis ? -dim - 1 : dim)),
          steps: shape.map((_, i) => (i === axis ? -1 : 1)),
        }),
      () =>
        this.#call('pad', [value], {
          pads: [...shape, ...shape].map((_, i) => (i === axis ? 1 : i === axis + rank ? 2 : 0)),
          mode: this.below(2) === 0 ? 'edge' : 'constant',
          value: 0.5,
        }),
    ];
    return this.#pick(kinds)();
  }
}
