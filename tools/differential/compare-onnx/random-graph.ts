import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import { sameShape } from '../../../src/core/tensor/shape.ts';
import { CASES } from './cases/index.ts';
import { type Draw, ints } from './draw.ts';
import {
  graphModel,
  type ModelCase,
  type NodeCase,
  outputName,
  outputsOf,
  type PlacedNode,
  singleNodeModel,
} from './node-case.ts';
import type { PeerRuntime } from './peer-runtime.ts';

/** An output of a node, with what the other runtime says that it is. */
interface Value {
  readonly name: string;
  readonly tensor: HostTensor;
}

/**
 * A graph of 3 to 15 nodes of opset 17 and up that the other runtime takes, one by one. An operand
 * is an earlier output wherever one of its dtype has its shape; a float may also be one of another
 * shape, reshaped.
 */
export async function randomGraph(
  names: readonly string[],
  draw: Draw,
  peer: PeerRuntime,
): Promise<ModelCase> {
  const opset = draw.pick([17, 18, 19, 20, 21, 22]);
  const length = draw.int(3, 15);
  const placed: PlacedNode[] = [];
  const values: Value[] = [];
  for (let tries = 0; placed.length < length && tries < 20 * length; tries++) {
    const generator = CASES[draw.pick(names)];
    const node = generator?.(draw);
    if (node === undefined || (node.domain === undefined && node.opset !== opset)) continue;
    const results = await peer(singleNodeModel(node, draw)).catch(() => undefined);
    if (results === undefined) continue;
    const inputs = sourcesOf(node, values, { draw, opset, placed });
    const n = placed.length;
    placed.push({ node: { ...node, opset }, inputs });
    const made = outputsOf(node).flatMap((exists, o) => (exists ? [outputName(n, o)] : []));
    for (const [i, name] of made.entries()) {
      const tensor = results[i];
      if (tensor !== undefined) values.push({ name, tensor });
    }
  }
  return graphModel(placed, draw);
}

interface SourceOptions {
  readonly draw: Draw;
  readonly opset: number;
  /** Takes the nodes that reshape. */
  readonly placed: PlacedNode[];
}

function sourcesOf(
  { inputs, parameters = [] }: NodeCase,
  values: readonly Value[],
  { draw, opset, placed }: SourceOptions,
): (string | undefined)[] {
  return inputs.map((operand, i) => {
    if (operand === undefined || parameters.includes(i)) return undefined;
    const { dtype, shape, elementCount } = operand;
    const alike = values.filter(({ tensor }) => tensor.dtype === dtype);
    const fitting = alike.filter(({ tensor }) => sameShape(tensor.shape, shape));
    if (fitting.length > 0 && draw.often(0.9)) return draw.pick(fitting).name;
    const equal = alike.filter(({ tensor }) => tensor.elementCount === elementCount);
    if (!dtype.startsWith('float') || elementCount === 0 || equal.length === 0) return undefined;
    const { name, tensor } = draw.pick(equal);
    const reshape = {
      op: 'Reshape',
      opset,
      inputs: [tensor, ints(shape)],
      parameters: [1],
      isFixed: true,
    };
    placed.push({ node: reshape, inputs: [name, undefined] });
    return outputName(placed.length - 1, 0);
  });
}
