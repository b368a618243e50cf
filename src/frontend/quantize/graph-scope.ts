import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { isExternal } from '../onnx/protobuf/external-data.ts';
import { tensorFromProto } from '../onnx/protobuf/read-tensor.ts';
import type { GraphProto, NodeProto, TensorProto } from '../onnx/protobuf/schema.ts';

/** A tensor that a graph holds, and where. */
export interface FoundConstant {
  readonly tensor: TensorProto;
  readonly scope: GraphScope;
  /** The shape that nodes gave it, before any transpose. */
  readonly shape: Shape;
  /** True if a node gives the transpose of the tensor, which has two axes. */
  readonly isTransposed: boolean;
}

/** Where a graph lies: in a node of another one, in order with those of other nodes. */
interface GraphPlace {
  readonly parent: GraphScope;
  readonly owner: NodeProto;
  readonly index: number;
}

/** A graph of a model with what it defines, the main graph or one within a node. */
export class GraphScope {
  readonly graph: GraphProto;
  readonly parent: GraphScope | undefined;
  /** The node whose attribute the graph is; undefined for the main graph. */
  readonly owner: NodeProto | undefined;
  /** A text that no other graph of the model has; empty for the main graph. */
  readonly path: string;
  /** Graphs within its nodes. */
  readonly children: readonly GraphScope[];
  readonly #initializers: ReadonlyMap<string, TensorProto>;
  readonly #producers: ReadonlyMap<string, NodeProto>;
  readonly #inputs: ReadonlySet<string>;

  constructor(graph: GraphProto, place?: GraphPlace) {
    this.graph = graph;
    this.parent = place?.parent;
    this.owner = place?.owner;
    this.path = place === undefined ? '' : `${place.parent.path}${place.index}/`;
    this.#initializers = new Map(graph.initializer.map((tensor) => [tensor.name ?? '', tensor]));
    this.#producers = new Map(
      graph.node.flatMap((node) => node.output.map((name) => [name, node] as const)),
    );
    this.#inputs = new Set(graph.input.map(({ name }) => name ?? ''));
    this.children = graph.node
      .flatMap((owner) => owner.attribute.flatMap(({ g }) => (g === undefined ? [] : { owner, g })))
      .map(({ owner, g }, index) => new GraphScope(g, { parent: this, owner, index }));
  }

  all(): readonly GraphScope[] {
    return [this, ...this.children.flatMap((child) => child.all())];
  }

  producerOf(name: string): NodeProto | undefined {
    return this.#producers.get(name);
  }

  /**
   * The tensor that a value always is: an initializer or the value of a node `Constant`, also behind `Identity`, a
   * `Reshape` and a `Transpose` of two axes. An initializer that is an input as well counts, as everywhere in Weft.
   */
  constantOf(name: string): FoundConstant | undefined {
    const tensor = this.#initializers.get(name);
    if (tensor !== undefined) return this.#found(tensor);
    const producer = this.#producers.get(name);
    if (producer !== undefined) return this.#constantFrom(producer);
    return this.#inputs.has(name) ? undefined : this.parent?.constantOf(name);
  }

  #constantFrom({ opType, domain = '', input, attribute }: NodeProto): FoundConstant | undefined {
    if (domain !== '' && domain !== 'ai.onnx') return undefined;
    const [x = ''] = input;
    if (opType === 'Identity') return this.constantOf(x);
    if (opType === 'Constant') {
      const tensor = attribute.find(({ name }) => name === 'value')?.t;
      return tensor && this.#found(tensor);
    }
    if (opType === 'Reshape') return reshaped(this.constantOf(x), this.constantOf(input[1] ?? ''));
    if (opType !== 'Transpose') return undefined;
    const perm = attribute.find(({ name }) => name === 'perm')?.ints;
    const found = this.constantOf(x);
    if (found?.shape.length !== 2) return undefined;
    const isSwap = perm === undefined || perm.length === 0 || (perm[0] === 1n && perm[1] === 0n);
    return isSwap ? { ...found, isTransposed: !found.isTransposed } : found;
  }

  #found(tensor: TensorProto): FoundConstant {
    return { tensor, scope: this, shape: tensor.dims, isTransposed: false };
  }
}

/** A constant in a constant shape, in which 0 stands for the size that is there and -1 for what is left. */
function reshaped(
  found: FoundConstant | undefined,
  target: FoundConstant | undefined,
): FoundConstant | undefined {
  if (found === undefined || found.isTransposed) return undefined;
  if (target === undefined || isExternal(target.tensor)) return undefined;
  const given = Array.from(tensorFromProto(target.tensor, 'shape').data as BigInt64Array, Number);
  const sizes = given.map((size, axis) => (size === 0 ? (found.shape[axis] ?? 0) : size));
  const rest = elementCount(found.shape) / elementCount(sizes.filter((size) => size !== -1));
  const shape = sizes.map((size) => (size === -1 ? rest : size));
  return elementCount(shape) === elementCount(found.shape) ? { ...found, shape } : undefined;
}
