import { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { NodeAttributes } from '../../onnx/attributes.ts';
import { canonicalDomain, OperatorSets } from '../../onnx/model/operator-sets.ts';
import type { Draft, GraphProto, ModelProto, NodeProto } from '../../onnx/protobuf/schema.ts';
import type { GraphScope } from '../graph-scope.ts';
import { intAttribute, ModelEdits } from '../model-edits.ts';
import { nodeName } from '../quantized-layer.ts';
import type { FloatValue } from './layer-inputs.ts';

/** A value that a graph within a node of a model has. */
interface InnerValue {
  readonly scope: GraphScope;
  readonly name: string;
}

/** Two vectors of a model's main graph, which tell what an inner value was each time its graph ran. */
export interface ShownValue {
  /** float32: its elements, row-major, those of later times behind. */
  readonly elements: string;
  /** int64: its rank and its sizes, those of later times behind. Nothing where its graph did not run. */
  readonly shapes: string;
}

interface ShownModel {
  readonly bytes: Uint8Array;
  /** Undefined for values in graphs of nodes that are no `If`, `Loop` or `Scan` of operator set 9 or later. */
  readonly shown: readonly (ShownValue | undefined)[];
}

/**
 * A model whose main graph has values of inner graphs too. A branch gives them as further outputs, the other one
 * nothing in their place; a loop carries them along, each iteration behind those before.
 */
export function showInnerValues(
  bytes: Uint8Array,
  { model, main, values }: { model: ModelProto; main: GraphScope; values: readonly InnerValue[] },
): ShownModel {
  const opset = OperatorSets.of(model.opsetImport, 'ONNX model').version('');
  const shower = new InnerValueShower(new ModelEdits(model, main), opset);
  const shown = values.map(({ scope, name }) => shower.show(scope, name));
  if (shown.every((each) => each === undefined)) return { bytes, shown };
  return { bytes: shower.write(bytes), shown };
}

/** Values of an inner graph, one for each time that the graph ran. */
export function readShownValue(
  elements: Float32Array,
  shapes: BigInt64Array,
): readonly FloatValue[] {
  const values: FloatValue[] = [];
  let from = 0;
  for (let at = 0; at < shapes.length; ) {
    const rank = Number(shapes[at]);
    const shape = Array.from(shapes.subarray(at + 1, at + 1 + rank), Number);
    const count = shape.reduce((product, size) => product * size, 1);
    values.push({ shape, data: elements.subarray(from, from + count) });
    from += count;
    at += 1 + rank;
  }
  return values;
}

/** Reshape has its shape as an input since this operator set. */
const RESHAPES_SINCE = 5;
/** Before, Scan had a batch. */
const SCANS_SINCE = 9;
const FLOAT32 = 1;

type ValueInfo = Draft<'ValueInfoProto'>;

/** Outputs that an inner graph gets in addition to its own and, in a loop, inputs. */
interface Additions {
  readonly outputs: string[];
  readonly inputs: string[];
}

class InnerValueShower {
  readonly #edits: ModelEdits;
  readonly #opset: number;
  readonly #ofGraphs = new Map<GraphProto, Additions>();
  readonly #ofNodes = new Map<NodeProto, Additions>();
  #nothing: readonly [string, string] | undefined;

  constructor(edits: ModelEdits, opset: number) {
    this.#edits = edits;
    this.#opset = opset;
  }

  show(scope: GraphScope, name: string): ShownValue | undefined {
    if (this.#opset < RESHAPES_SINCE || !this.#isReached(scope)) return undefined;
    let [elements, shapes] = this.#flatten(scope, name);
    for (let at = scope; at.parent !== undefined && at.owner !== undefined; at = at.parent) {
      [elements, shapes] = [
        this.#raise(at, at.owner, [elements, 'elements']),
        this.#raise(at, at.owner, [shapes, 'shapes']),
      ];
    }
    return { elements, shapes };
  }

  write(bytes: Uint8Array): Uint8Array {
    for (const [node, additions] of this.#ofNodes) {
      const { input, output } = node;
      const { givenStates, giving, states } = placesOf(node);
      const draft = {
        input: spliced(input, givenStates, additions.inputs),
        output: spliced(padded(output, giving), Math.min(states, giving), additions.outputs),
      };
      this.#edits.replace(node, [{ base: node, draft }]);
    }
    for (const scope of this.#edits.main.all()) {
      const additions = this.#ofGraphs.get(scope.graph);
      if (additions === undefined || scope.owner === undefined) continue;
      const { graph, owner } = scope;
      const { bodyInputs, bodyOutputs } = placesOf(owner);
      const named = (names: readonly string[]): ValueInfo[] => names.map((name) => ({ name }));
      this.#edits.setEnds(graph, {
        input: spliced<ValueInfo>(graph.input, bodyInputs, named(additions.inputs)),
        output: spliced<ValueInfo>(
          graph.output,
          bodyOutputs ?? graph.output.length,
          named(additions.outputs),
        ),
      });
    }
    return this.#edits.writeInPlace(bytes);
  }

  /** Returns true if all nodes around a graph are of known kinds. */
  #isReached({ owner, parent }: GraphScope): boolean {
    if (owner === undefined || parent === undefined) return true;
    if (
      canonicalDomain(owner.domain) !== '' ||
      !['If', 'Loop', 'Scan'].includes(owner.opType ?? '')
    )
      return false;
    return (owner.opType !== 'Scan' || this.#opset >= SCANS_SINCE) && this.#isReached(parent);
  }

  /** Both vectors of a value, in its graph. */
  #flatten({ graph }: GraphScope, value: string): [elements: string, shapes: string] {
    const edits = this.#edits;
    const named = (what: string): string => edits.uniqueName(`${value}_${what}`);
    const [floats, flat, elements] = [named('floats'), named('flat'), named('elements')];
    const [sizes, rank, shapes] = [named('sizes'), named('rank'), named('shapes')];
    const last = graph.node.at(-1) ?? graph;
    const cast = [intAttribute('to', FLOAT32)];
    const axis = [intAttribute('axis', 0)];
    edits.addInitializer(edits.main, flat, HostTensor.from('int64', [1], [-1n]));
    edits.insertAfter(last, [
      { opType: 'Cast', input: [value], output: [floats], attribute: cast },
      { opType: 'Reshape', input: [floats, flat], output: [elements] },
      { opType: 'Shape', input: [value], output: [sizes] },
      { opType: 'Shape', input: [sizes], output: [rank] },
      { opType: 'Concat', input: [rank, sizes], output: [shapes], attribute: axis },
    ]);
    return [elements, shapes];
  }

  /** The name in the graph around for a vector of an inner graph. */
  #raise(
    { graph }: GraphScope,
    owner: NodeProto,
    [name, what]: readonly [string, 'elements' | 'shapes'],
  ): string {
    const edits = this.#edits;
    const raised = edits.uniqueName(`${name}_raised`);
    additionsOf(this.#ofNodes, owner).outputs.push(raised);
    if (owner.opType === 'If') {
      additionsOf(this.#ofGraphs, graph).outputs.push(name);
      for (const { g } of owner.attribute) {
        if (g === undefined || g === graph) continue;
        const none = edits.uniqueName(`${name}_none`);
        edits.addInitializer({ graph: g }, none, NOTHING[what]);
        additionsOf(this.#ofGraphs, g).outputs.push(none);
      }
      return raised;
    }
    const [before, after] = [edits.uniqueName(`${name}_before`), edits.uniqueName(`${name}_after`)];
    const attribute = [intAttribute('axis', 0)];
    edits.insertAfter(graph.node.at(-1) ?? graph, [
      { opType: 'Concat', input: [before, name], output: [after], attribute },
    ]);
    const own = additionsOf(this.#ofGraphs, graph);
    own.inputs.push(before);
    own.outputs.push(after);
    additionsOf(this.#ofNodes, owner).inputs.push(this.#emptyOf(what));
    return raised;
  }

  /** The empty vector that a loop begins with. */
  #emptyOf(what: 'elements' | 'shapes'): string {
    const edits = this.#edits;
    this.#nothing ??= (['elements', 'shapes'] as const).map((each) => {
      const name = edits.uniqueName(`no_${each}`);
      edits.addInitializer(edits.main, name, NOTHING[each]);
      return name;
    }) as [string, string];
    return this.#nothing[what === 'elements' ? 0 : 1];
  }
}

const NOTHING = {
  elements: HostTensor.zeros('float32', [0]),
  shapes: HostTensor.zeros('int64', [0]),
} as const;

function additionsOf<T>(all: Map<T, Additions>, key: T): Additions {
  const known = all.get(key) ?? { outputs: [], inputs: [] };
  all.set(key, known);
  return known;
}

/** Where states end: what a loop carries from one iteration to the next. */
interface Places {
  /** The end of the states in the inputs of the node. */
  readonly givenStates: number;
  /** The end of the states in the outputs of the node, of which it has `giving` in all. */
  readonly states: number;
  readonly giving: number;
  readonly bodyInputs: number;
  /** Undefined behind all others. */
  readonly bodyOutputs: number | undefined;
}

function placesOf(node: NodeProto): Places {
  const body = node.attribute.find(({ g }) => g !== undefined)?.g;
  const outputs = body?.output.length ?? 0;
  const given = node.input.length;
  if (node.opType === 'If') {
    return {
      givenStates: given,
      states: outputs,
      giving: outputs,
      bodyInputs: 0,
      bodyOutputs: undefined,
    };
  }
  if (node.opType === 'Loop') {
    const states = Math.max(0, given - 2);
    return {
      givenStates: Math.max(2, given),
      states,
      giving: outputs - 1,
      bodyInputs: states + 2,
      bodyOutputs: states + 1,
    };
  }
  const attributes = new NodeAttributes(node, nodeName(node));
  const states = given - attributes.int('num_scan_inputs', 0);
  return { givenStates: states, states, giving: outputs, bodyInputs: states, bodyOutputs: states };
}

/** Names that a node left out at its end, so that others may follow. */
const padded = (names: readonly string[], count: number): string[] => [
  ...names,
  ...Array<string>(Math.max(0, count - names.length)).fill(''),
];

const spliced = <T>(all: readonly T[], at: number, added: readonly T[]): T[] => [
  ...all.slice(0, at),
  ...added,
  ...all.slice(at),
];
