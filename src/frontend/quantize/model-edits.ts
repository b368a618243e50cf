import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import {
  externalBytes,
  type ExternalDataReader,
  isExternal,
} from '../onnx/protobuf/external-data.ts';
import { storedByteLength } from '../onnx/protobuf/tensor-data.ts';
import { type FieldEdit, mergeDraft, rewriteFields } from '../onnx/protobuf/rewrite-fields.ts';
import {
  type Draft,
  type GraphProto,
  type ModelProto,
  type NodeProto,
  ONNX_SCHEMA,
  type TensorProto,
} from '../onnx/protobuf/schema.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { writeMessage } from '../onnx/protobuf/write-message.ts';
import type { GraphScope } from './graph-scope.ts';
import { TensorStore } from './tensor-store.ts';
import { readModel } from '../onnx/protobuf/read-model.ts';

export type NodeDraft = Draft<'NodeProto'>;

/** A node that is written: fields of a draft, and those of a node of the model that the draft does not have. */
export interface WrittenNode {
  readonly draft: NodeDraft;
  readonly base?: NodeProto;
}

type GraphEnds = Required<Pick<Draft<'GraphProto'>, 'input' | 'output'>>;

export const intAttribute = (name: string, value: number) => ({ name, i: value, type: 2 }) as const;

const MODEL = ONNX_SCHEMA.ModelProto;
const GRAPH = ONNX_SCHEMA.GraphProto;
const NODE = ONNX_SCHEMA.NodeProto;
const ATTRIBUTE = ONNX_SCHEMA.AttributeProto;

/** The field of a graph with the types of values, which nothing here reads. */
const VALUE_INFO = 13;

/** The first version whose initializers need not be inputs. */
const IR_VERSION = 4;

/** Changes to a model, collected first and then written: all that no change concerns stays as it is, byte by byte. */
export class ModelEdits {
  readonly main: GraphScope;
  readonly #model: ModelProto;
  readonly #names = new Set<string>();
  readonly #nodes = new Map<NodeProto, readonly WrittenNode[]>();
  readonly #after = new Map<NodeProto | GraphProto, NodeDraft[]>();
  readonly #outputNames = new Map<string, string>();
  readonly #added = new Map<GraphProto, Map<string, HostTensor>>();
  readonly #ends = new Map<GraphProto, GraphEnds>();
  readonly #released = new Set<string>();
  readonly #opsets = new Map<string, number>();
  readonly #retyped = new Set<string>();

  constructor(model: ModelProto, main: GraphScope) {
    this.#model = model;
    this.main = main;
    for (const { graph } of main.all()) {
      const values = [...graph.input, ...graph.output, ...graph.initializer];
      for (const { name } of values) this.#names.add(name ?? '');
      for (const node of graph.node) {
        for (const name of [...node.input, ...node.output, node.name ?? '']) this.#names.add(name);
      }
    }
  }

  /** A name that no value and no node has. */
  uniqueName(wanted: string): string {
    for (let i = 0; ; i++) {
      const name = i === 0 ? wanted : `${wanted}_${i}`;
      if (this.#names.has(name)) continue;
      this.#names.add(name);
      return name;
    }
  }

  /** Nodes in place of one, in order. */
  replace(node: NodeProto, written: readonly WrittenNode[]): void {
    this.#nodes.set(node, written);
  }

  writtenOf(node: NodeProto): readonly WrittenNode[] {
    return this.#nodes.get(node) ?? [{ draft: {}, base: node }];
  }

  /** Nodes behind what stands in place of a node, or before the first one of a graph. */
  insertAfter(place: NodeProto | GraphProto, drafts: readonly NodeDraft[]): void {
    this.#after.set(place, [...(this.#after.get(place) ?? []), ...drafts]);
  }

  /** Another name for what a node gives under a name, which nodes that are inserted then may give. */
  renameOutput(name: string, renamed: string): void {
    this.#outputNames.set(name, renamed);
  }

  /** Inputs and outputs of a graph in place of its own. */
  setEnds(graph: GraphProto, ends: GraphEnds): void {
    this.#ends.set(graph, ends);
  }

  endsOf(graph: GraphProto): GraphEnds | undefined {
    return this.#ends.get(graph);
  }

  addInitializer({ graph }: Pick<GraphScope, 'graph'>, name: string, tensor: HostTensor): void {
    const tensors = this.#added.get(graph) ?? new Map<string, HostTensor>();
    this.#added.set(graph, tensors.set(name, tensor));
  }

  /** A value that a changed node read: it goes, with what made it, where nothing else reads it. */
  release(name: string): void {
    this.#released.add(name);
  }

  /** Drops the type that the model declares for a value, which no longer holds. */
  forgetType(name: string): void {
    this.#retyped.add(name);
  }

  hasOtherType(name: string): boolean {
    return this.#retyped.has(name);
  }

  /** Imports an operator set in this version. */
  importOpset(domain: string, version: number): void {
    this.#opsets.set(domain, version);
  }

  /** The model with the changes; its tensors go to the store. */
  write(
    bytes: Uint8Array,
    store: TensorStore,
    externalData: ExternalDataReader | undefined,
  ): Uint8Array {
    return this.#write(bytes, { removed: this.#findUnused(), store, externalData });
  }

  /** The model with the changes; its tensors stay where they are, those in other files too. */
  writeInPlace(bytes: Uint8Array): Uint8Array {
    const options = { removed: this.#findUnused(), store: new TensorStore(undefined) };
    return this.#write(bytes, { ...options, externalData: 'in place' });
  }

  #write(bytes: Uint8Array, options: WriterOptions): Uint8Array {
    const writer = new ModelWriter(this, options);
    const isOld = this.#added.size > 0 && (this.#model.irVersion ?? 0) < IR_VERSION;
    const kept = rewriteFields(bytes, {
      [MODEL.graph[0]]: (graph) => [writer.graph(graph, this.main.graph, { dropsDefaults: isOld })],
    });
    const known = new Set(this.#model.opsetImport.map(({ domain = '' }) => domain));
    const missing = [...this.#opsets].filter(([domain]) => !known.has(domain));
    const opsetImport = [
      ...this.#model.opsetImport,
      ...missing.map(([domain, version]) => ({ domain, version })),
    ];
    return mergeDraft('ModelProto', kept, {
      ...(isOld && { irVersion: IR_VERSION }),
      ...(missing.length > 0 && { opsetImport }),
    });
  }

  insertedAfter(place: NodeProto | GraphProto): readonly NodeDraft[] {
    return this.#after.get(place) ?? [];
  }

  outputName(name: string): string {
    return this.#outputNames.get(name) ?? name;
  }

  addedTo(graph: GraphProto): ReadonlyMap<string, HostTensor> {
    return this.#added.get(graph) ?? new Map<string, HostTensor>();
  }

  /** Initializers and nodes whose values were read only by nodes that do not read them any more. */
  #findUnused(): ReadonlySet<TensorProto | NodeProto> {
    const scopes = this.main.all();
    const uses = new Map<string, number>();
    const count = (name: string, by: number): void => {
      uses.set(name, (uses.get(name) ?? 0) + by);
    };
    for (const { graph } of scopes) {
      for (const { name } of graph.output) count(name ?? '', 1);
      const nodes = graph.node.flatMap((node) => this.writtenOf(node));
      for (const { draft, base } of nodes) {
        for (const name of draft.input ?? base?.input ?? []) count(name, 1);
      }
      const inserted = [graph, ...graph.node].flatMap((place) => this.insertedAfter(place));
      for (const { input = [] } of inserted) for (const name of input) count(name, 1);
    }
    const removed = new Set<TensorProto | NodeProto>();
    const pending = [...this.#released];
    for (const name of pending) {
      if ((uses.get(name) ?? 0) > 0) continue;
      for (const scope of scopes) {
        for (const tensor of scope.graph.initializer) if (tensor.name === name) removed.add(tensor);
        const producer = scope.producerOf(name);
        if (producer === undefined || removed.has(producer)) continue;
        removed.add(producer);
        for (const input of producer.input) {
          count(input, -1);
          pending.push(input);
        }
      }
    }
    return removed;
  }
}

interface WriterOptions {
  readonly removed: ReadonlySet<TensorProto | NodeProto>;
  readonly store: TensorStore;
  /** How tensors in other files are read, which then lie where the store says; or they stay where they are. */
  readonly externalData: ExternalDataReader | undefined | 'in place';
}

/** Writes graphs with the changes. */
class ModelWriter {
  readonly #edits: ModelEdits;
  readonly #options: WriterOptions;

  constructor(edits: ModelEdits, options: WriterOptions) {
    this.#edits = edits;
    this.#options = options;
  }

  /** `dropsDefaults`: inputs that have an initializer are none any more. */
  graph(
    bytes: Uint8Array,
    graph: GraphProto,
    { dropsDefaults = false }: { readonly dropsDefaults?: boolean } = {},
  ): Uint8Array {
    const { removed } = this.#options;
    const defaults = new Set(dropsDefaults ? graph.initializer.map(({ name }) => name) : []);
    for (const tensor of graph.initializer) if (removed.has(tensor)) defaults.add(tensor.name);
    const first = this.#edits.insertedAfter(graph).map((draft) => writeMessage('NodeProto', draft));
    let isFirst = true;
    const nodes = inOrder(graph.node, (node, nodeBytes) => {
      const written = this.#node(node, nodeBytes);
      const all = isFirst ? [...first, ...written] : written;
      isFirst = false;
      return all;
    });
    const initializers = inOrder(graph.initializer, (tensor, tensorBytes) =>
      removed.has(tensor) ? [] : [this.#tensor(tensor, tensorBytes)],
    );
    const inputs = inOrder(graph.input, ({ name }, inputBytes) =>
      defaults.has(name ?? '') ? [] : [inputBytes],
    );
    const ends = this.#edits.endsOf(graph);
    const rewritten = rewriteFields(bytes, {
      [GRAPH.node[0]]: nodes,
      [GRAPH.initializer[0]]: initializers,
      [GRAPH.input[0]]: inputs,
      [VALUE_INFO]: (info) =>
        this.#edits.hasOtherType(readMessage('ValueInfoProto', info).name ?? '') ? [] : [info],
    });
    const kept = ends === undefined ? rewritten : mergeDraft('GraphProto', rewritten, ends);
    const added = [...this.#edits.addedTo(graph)].map(([name, tensor]) =>
      this.#options.store.draftOf(name, tensor),
    );
    return concatenated(kept, writeMessage('GraphProto', { initializer: added }));
  }

  #node(node: NodeProto, bytes: Uint8Array): readonly Uint8Array[] {
    const edits = this.#edits;
    const written = this.#options.removed.has(node)
      ? []
      : edits.writtenOf(node).map(({ draft, base }) => {
          const outputs = draft.output ?? base?.output ?? [];
          const named = outputs.map((name) => edits.outputName(name));
          const isRenamed = named.some((name, i) => name !== outputs[i]);
          const whole = isRenamed ? { ...draft, output: named } : draft;
          if (base === undefined) return writeMessage('NodeProto', whole);
          return mergeDraft('NodeProto', this.#withGraphs(base, bytes), whole);
        });
    const behind = edits.insertedAfter(node).map((draft) => writeMessage('NodeProto', draft));
    return [...written, ...behind];
  }

  #withGraphs({ attribute }: NodeProto, bytes: Uint8Array): Uint8Array {
    if (!attribute.some(({ g, t }) => g !== undefined || (t !== undefined && isExternal(t)))) {
      return bytes;
    }
    const attributes = inOrder(attribute, ({ g, t }, attributeBytes) => [
      rewriteFields(attributeBytes, {
        ...(g && { [ATTRIBUTE.g[0]]: (graphBytes) => [this.graph(graphBytes, g)] }),
        ...(t && { [ATTRIBUTE.t[0]]: (tensorBytes) => [this.#tensor(t, tensorBytes)] }),
      }),
    ]);
    return rewriteFields(bytes, { [NODE.attribute[0]]: attributes });
  }

  /** A tensor in the place that the store gives it; what lay in another file is read. */
  #tensor(tensor: TensorProto, bytes: Uint8Array): Uint8Array {
    const { store, externalData } = this.#options;
    if (externalData === 'in place') return bytes;
    const where = `tensor "${tensor.name ?? ''}"`;
    if (isExternal(tensor)) {
      const place = { where, read: externalData };
      const data = externalBytes(tensor, storedByteLength(tensor, where), place);
      return mergeDraft('TensorProto', bytes, store.placeOf(data));
    }
    const { rawData } = tensor;
    if (rawData === undefined || !store.isBeside(rawData.byteLength)) return bytes;
    return mergeDraft('TensorProto', bytes, store.placeOf(rawData));
  }
}

/** An edit of the occurrences of a field, of which the decoded messages are known in the same order. */
function inOrder<T>(
  messages: readonly T[],
  edit: (message: T, bytes: Uint8Array) => readonly Uint8Array[],
): FieldEdit {
  let index = 0;
  return (bytes) => {
    const message = messages[index++];
    return message === undefined ? [bytes] : edit(message, bytes);
  };
}

function concatenated(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (b.byteLength === 0) return a;
  const whole = new Uint8Array(a.byteLength + b.byteLength);
  whole.set(a);
  whole.set(b, a.byteLength);
  return whole;
}

const MODEL_GRAPH = ONNX_SCHEMA.ModelProto.graph[0];

/**
 * An ONNX model that also gives the values of these names, which nodes of its main graph compute, as outputs behind its
 * own. They have no types, which Weft does not ask for; names of inputs are left out. Throws FormatError for bytes that are no model.
 */
export function observeOnnx(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  const { graph } = readModel(bytes);
  const known = new Set([...graph.output, ...graph.input].map(({ name }) => name));
  const output = [...new Set(names)].flatMap((name) => (known.has(name) ? [] : [{ name }]));
  if (output.length === 0) return bytes;
  const more = writeMessage('GraphProto', { output });
  return rewriteFields(bytes, {
    [MODEL_GRAPH]: (graph) => {
      const whole = new Uint8Array(graph.byteLength + more.byteLength);
      whole.set(graph);
      whole.set(more, graph.byteLength);
      return [whole];
    },
  });
}
