import { type Dim, evaluateDim } from '../../../src/core/dims/dim.ts';
import type { DType } from '../../../src/core/tensor/dtype.ts';
import { WeftError } from '../../../src/core/errors.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type { Attributes, TensorType } from '../../../src/core/contracts/primitive-function.ts';
import { elementCount, type Shape, sameShape } from '../../../src/core/tensor/shape.ts';
import { hasSymbols } from '../../../src/ops/attributes.ts';
import { inferCall } from '../../../src/ops/infer-call.ts';
import { hostReason } from '../../../src/ops/lowering/placement.ts';
import { CORE_OPERATORS } from '../../../src/ops/tables/core-operators.ts';
import { Draws } from '../draws.ts';
import { concreteShape, type Graph, type GraphNode, inputsOf } from './graph.ts';
import { evaluateNode, isComparable, type NodeValues } from './perturbed-values.ts';
import { randomTensor } from './tensor-values.ts';

const MAX_ELEMENTS = 400;
const PERTURBED_COUNT = 3;

interface LeafOptions {
  readonly value?: HostTensor;
  readonly range?: readonly [number, number] | undefined;
  readonly kind?: 'param' | 'constant';
}

/** The nodes so far with their values, and what new ones are made with. */
export class GraphDraft extends Draws {
  readonly nodes: GraphNode[] = [];
  readonly symbols = new Map<string, number>();
  readonly #values: NodeValues[] = [];

  /** Without `symbols` the seed draws some. */
  constructor(seed: number, symbols?: ReadonlyMap<string, number>) {
    super(seed);
    for (const name of symbols?.keys() ?? ['n', 'm'].slice(0, this.below(3))) {
      this.symbols.set(name, symbols?.get(name) ?? this.pick([0, 1, 2, 3, 3, 5, 6]));
      // Code that mentions a symbol needs a parameter that gives its size.
      const type: TensorType = { dtype: 'float32', shape: [name] };
      this.#addLeaf('param', type, this.#tensor('float32', concreteShape([name], this.symbols)));
    }
  }

  get callCount(): number {
    return this.nodes.filter(({ kind }) => kind === 'call' || kind === 'if').length;
  }

  mark(): number {
    return this.nodes.length;
  }

  reset(length: number): void {
    this.nodes.length = length;
    this.#values.length = length;
  }

  type(node: number): TensorType {
    const type = this.nodes[node]?.type;
    if (type === undefined) throw new Error(`no node ${node}`);
    return type;
  }

  value(node: number): HostTensor {
    const value = this.#values[node]?.value;
    if (value === undefined) throw new Error(`no node ${node}`);
    return value;
  }

  /** A node that fits, rather a late one. */
  find(fits: (type: TensorType, node: number) => boolean): number | undefined {
    const found = [...this.nodes.keys()].filter((node) => fits(this.type(node), node));
    if (found.length === 0) return undefined;
    const late = this.below(3) > 0 ? found.slice(-6) : found;
    return this.pick(late);
  }

  leaf(dtype: DType, shape: readonly Dim[], { value, range, kind }: LeafOptions = {}): number {
    const concrete = concreteShape(shape, this.symbols);
    const isSymbolic = shape.some((dim) => typeof dim !== 'number');
    const drawn = !isSymbolic && this.below(10) < 3 ? 'constant' : 'param';
    return this.#addLeaf(
      kind ?? drawn,
      { dtype, shape },
      value ?? this.#tensor(dtype, concrete, range),
    );
  }

  /** Adds a call, unless it is refused or its result is no good to compare. */
  call(op: string, inputs: readonly number[], attributes: Attributes = {}): number | undefined {
    const type = this.#infer(op, inputs, attributes);
    if (type === undefined) return undefined;
    // A function has to have parameters that tell the sizes which it mentions.
    const isNamed = (dim: Dim): boolean => typeof dim !== 'object';
    const isClosed =
      !hasSymbols(CORE_OPERATORS.require(op), attributes) &&
      inputs.every((input) => this.type(input).shape.every(isNamed));
    const isFunction = this.below(14) === 0 && isClosed;
    const form = this.below(12) === 0 ? 'let' : isFunction ? 'function' : 'plain';
    return this.#add({ kind: 'call', op, inputs, attributes, type, form });
  }

  branch(condition: number, yes: number, no: number): number | undefined {
    return this.#add({ kind: 'if', inputs: [condition, yes, no], type: this.type(yes) });
  }

  finish(): Graph {
    const isRead = new Set(this.nodes.flatMap(inputsOf));
    const sinks = [...this.nodes.keys()].filter(
      (node) => !isRead.has(node) && this.nodes[node]?.kind !== 'constant',
    );
    const inner = this.find((_, node) => isRead.has(node) && this.nodes[node]?.kind === 'call');
    const outputs = inner === undefined || this.below(2) === 0 ? sinks : [...sinks, inner];
    return { nodes: this.nodes, outputs, symbols: this.symbols };
  }

  #addLeaf(kind: 'param' | 'constant', type: TensorType, value: HostTensor): number {
    const node: GraphNode = { kind, type, value };
    this.nodes.push(node);
    this.#values.push(this.#evaluate(node));
    return this.nodes.length - 1;
  }

  #tensor(dtype: DType, shape: Shape, range?: readonly [number, number]): HostTensor {
    return randomTensor(dtype, shape, { random: this.random, range });
  }

  #add(node: GraphNode): number | undefined {
    let values: NodeValues;
    try {
      values = this.#evaluate(node);
    } catch (thrown) {
      if (thrown instanceof WeftError) return undefined;
      throw thrown;
    }
    const shape = concreteShape(node.type.shape, this.symbols);
    if (!sameShape(values.value.shape, shape) || !isComparable(values)) return undefined;
    this.nodes.push(node);
    this.#values.push(values);
    return this.nodes.length - 1;
  }

  #evaluate(node: GraphNode): NodeValues {
    const operands = inputsOf(node).flatMap((input) => this.#values[input] ?? []);
    const { symbols } = this;
    return evaluateNode(node, operands, { symbols, random: this.random, count: PERTURBED_COUNT });
  }

  /** The type of a call that kernels can do, whose sizes are known; undefined where it is refused. */
  #infer(op: string, inputs: readonly number[], attributes: Attributes): TensorType | undefined {
    const types = inputs.map((input) => this.type(input));
    const definition = CORE_OPERATORS.require(op);
    try {
      const { output, checks } = inferCall(definition, types, attributes);
      const size = (dim: Dim) => evaluateDim(dim, this.symbols);
      const isChecked = checks.every(({ left, right }) => size(left) === size(right));
      const sizes = output.shape.map(size);
      if (!isChecked || sizes.some((dim) => dim === undefined || dim < 0)) return undefined;
      if (elementCount(sizes.map(Number)) > MAX_ELEMENTS || sizes.length > 7) return undefined;
      const dtypes = types.map(({ dtype }) => dtype);
      const reason = hostReason(definition, { inputs: dtypes, output: output.dtype, attributes });
      return reason !== undefined && this.below(8) > 0 ? undefined : output;
    } catch (thrown) {
      if (thrown instanceof WeftError) return undefined;
      throw thrown;
    }
  }
}
