import type {
  NodeAttributes as NodeAttributeValues,
  NodeAttributeValue,
} from '../../core/contracts/node-function.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import type { ExternalDataReader } from './protobuf/external-data.ts';
import { readMessage, saturate } from './protobuf/read-message.ts';
import { denseFromProto } from './protobuf/read-sparse-tensor.ts';
import { tensorFromProto } from './protobuf/read-tensor.ts';
import type { AttributeProto, GraphProto, NodeProto, TypeProto } from './protobuf/schema.ts';

const ATTRIBUTE_TYPES = {
  float: 1,
  int: 2,
  string: 3,
  tensor: 4,
  graph: 5,
  floats: 6,
  ints: 7,
  strings: 8,
  sparse: 11,
  type: 13,
};

type AttributeType = keyof typeof ATTRIBUTE_TYPES;

/** Hints of old opsets that never change a result. */
const HINTS: ReadonlySet<string> = new Set(['consumed_inputs', 'doc_string']);

/** The attributes of a node by name. Remembers which were asked for, so that none is overlooked. */
export class NodeAttributes {
  readonly #where: string;
  readonly #externalData: ExternalDataReader | undefined;
  readonly #byName: ReadonlyMap<string, AttributeProto>;
  readonly #read = new Set<string>(HINTS);

  /** Throws FormatError when a name stands twice. */
  constructor(node: NodeProto, where: string, externalData?: ExternalDataReader) {
    this.#where = where;
    this.#externalData = externalData;
    const byName = new Map<string, AttributeProto>();
    for (const attribute of node.attribute) {
      const name = attribute.name ?? '';
      if (byName.has(name)) {
        throw new FormatError({ where, got: `attribute ${name} twice`, expected: 'each once' });
      }
      byName.set(name, attribute);
    }
    this.#byName = byName;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  int(name: string): number | undefined;
  int(name: string, otherwise: number): number;
  int(name: string, otherwise?: number): number | undefined {
    const attribute = this.#get(name, 'int');
    return attribute === undefined ? otherwise : saturate(attribute.i ?? 0n);
  }

  bool(name: string, otherwise = false): boolean {
    return this.int(name, otherwise ? 1 : 0) !== 0;
  }

  /** An integer, or a list of integers, as int64: what is no axis or size has to be exact. */
  exactInts(name: string): HostTensor | undefined {
    const given = this.#byName.get(name);
    const one = given?.type === ATTRIBUTE_TYPES.int || given?.i !== undefined;
    const attribute = this.#get(name, one ? 'int' : 'ints');
    if (attribute === undefined) return undefined;
    if (one) return new HostTensor('int64', [], BigInt64Array.of(attribute.i ?? 0n));
    return new HostTensor('int64', [attribute.ints.length], attribute.ints);
  }

  float(name: string): number | undefined;
  float(name: string, otherwise: number): number;
  float(name: string, otherwise?: number): number | undefined {
    const attribute = this.#get(name, 'float');
    return attribute === undefined ? otherwise : (attribute.f ?? 0);
  }

  string(name: string, otherwise: string): string {
    const attribute = this.#get(name, 'string');
    if (attribute === undefined) return otherwise;
    return new TextDecoder().decode(attribute.s);
  }

  ints(name: string): readonly number[] | undefined {
    const attribute = this.#get(name, 'ints');
    return attribute && Array.from(attribute.ints, saturate);
  }

  floats(name: string): readonly number[] | undefined {
    const attribute = this.#get(name, 'floats');
    return attribute === undefined ? undefined : [...attribute.floats];
  }

  tensor(name: string): HostTensor | undefined {
    const attribute = this.#get(name, 'tensor');
    if (attribute === undefined) return undefined;
    const where = `${this.#where}: attribute ${name}`;
    const proto = attribute.t ?? readMessage('TensorProto', new Uint8Array());
    return tensorFromProto(proto, where, this.#externalData);
  }

  /** The attribute as a list of strings; undefined where it is absent. */
  strings(name: string): readonly string[] | undefined {
    const decoder = new TextDecoder();
    return this.#get(name, 'strings')?.strings.map((bytes) => decoder.decode(bytes));
  }

  sparseTensor(name: string): HostTensor | undefined {
    const sparse = this.#get(name, 'sparse')?.sparseTensor;
    const where = `${this.#where}: attribute ${name}`;
    return sparse && denseFromProto(sparse, where, this.#externalData);
  }

  /** A type; undefined where the node leaves it out. */
  type(name: string): TypeProto | undefined {
    return this.#get(name, 'type')?.tp;
  }

  /** A sub-graph. Throws FormatError where it is missing. */
  graph(name: string): GraphProto {
    const graph = this.#get(name, 'graph')?.g;
    if (graph !== undefined) return graph;
    throw new FormatError({ where: this.#where, got: `no graph ${name}`, expected: 'one' });
  }

  /** All attributes. Throws UnsupportedError for graphs and types. */
  all(): NodeAttributeValues {
    const values: Record<string, NodeAttributeValue> = {};
    for (const [name, attribute] of this.#byName) {
      if (HINTS.has(name)) continue;
      values[name] = this.#valueOf(name, typeOf(attribute));
    }
    return values;
  }

  #valueOf(name: string, type: AttributeType | undefined): NodeAttributeValue {
    switch (type) {
      case 'int':
        return this.int(name, 0);
      case 'float':
        return this.float(name, 0);
      case 'string':
        return this.string(name, '');
      case 'ints':
        return this.ints(name) ?? [];
      case 'floats':
        return this.floats(name) ?? [];
      case 'strings':
        return this.strings(name) ?? [];
      case 'tensor':
      case 'sparse': {
        const tensor = type === 'tensor' ? this.tensor(name) : this.sparseTensor(name);
        if (tensor !== undefined) return tensor;
        break;
      }
      default:
    }
    throw new UnsupportedError({
      where: `${this.#where}: attribute ${name}`,
      got: type === 'graph' ? 'a graph' : 'an attribute of another type',
      expected: 'numbers, strings, lists of them or tensors for a function of JavaScript',
    });
  }

  /** Marks attributes as known to make no difference. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** Throws UnsupportedError for an attribute that nobody asked for. */
  requireAllRead(): void {
    const unread = [...this.#byName.keys()].filter((name) => !this.#read.has(name));
    if (unread.length === 0) return;
    throw new UnsupportedError({
      where: this.#where,
      got: `attribute ${unread.join(', ')}`,
      expected: 'attributes that the importer knows for this operator and opset',
    });
  }

  #get(name: string, type: AttributeType): AttributeProto | undefined {
    this.#read.add(name);
    const attribute = this.#byName.get(name);
    if (attribute === undefined) return undefined;
    // Exporters before IR version 3 left the type out.
    const isTyped = attribute.type !== undefined && attribute.type !== 0;
    if (isTyped && attribute.type !== ATTRIBUTE_TYPES[type]) {
      throw new FormatError({
        where: `${this.#where}: attribute ${name}`,
        got: `attribute type ${attribute.type}`,
        expected: `${ATTRIBUTE_TYPES[type]} (${type})`,
      });
    }
    return attribute;
  }
}

/** Exporters before IR version 3 left the type out. */
function typeOf({ type, f, i, s, t, floats, ints, strings }: AttributeProto) {
  const named = Object.entries(ATTRIBUTE_TYPES).find(([, code]) => code === type);
  if (named !== undefined) return named[0] as AttributeType;
  if (f !== undefined) return 'float';
  if (i !== undefined) return 'int';
  if (s !== undefined) return 'string';
  if (t !== undefined) return 'tensor';
  if (floats.length > 0) return 'floats';
  if (ints.length > 0) return 'ints';
  return strings.length > 0 ? 'strings' : undefined;
}
