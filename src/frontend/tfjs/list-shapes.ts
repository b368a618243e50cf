import { type GraphNode, shapeOf } from './graph-model.ts';
import { nodeNameOf, valuesOf } from './node-protos.ts';

/** Operators that give a list which they are given, at its place among their inputs. */
const PASSING: Readonly<Record<string, number>> = {
  Enter: 0,
  Exit: 0,
  Identity: 0,
  NextIteration: 0,
  Switch: 0,
  TensorListSetItem: 0,
  TensorListPushBack: 0,
  TensorArrayWriteV3: 3,
  TensorArrayScatterV3: 3,
};

/** Operators that make a list, and the value of theirs that it is. */
const MAKING: Readonly<Record<string, string>> = { TensorListReserve: '', TensorArrayV3: ':1' };

/**
 * The nodes, of which those that make lists say the shape of elements that the one says which joins these. Many lists are made
 * without it. `sizesOf` gives the elements of a constant.
 */
export function listsWithShapes(
  nodes: readonly GraphNode[],
  sizesOf: (name: string) => readonly number[] | undefined,
): readonly GraphNode[] {
  if (!nodes.some(({ op }) => op in MAKING)) return nodes;
  const readers = new Map<string, GraphNode[]>();
  for (const node of nodes) {
    for (const value of valuesOf(node)) {
      const known = readers.get(nodeNameOf(value));
      if (known === undefined) readers.set(nodeNameOf(value), [node]);
      else known.push(node);
    }
  }
  return nodes.map((node) => {
    const value = MAKING[node.op];
    if (value === undefined) return node;
    const lists = new Set([node.name + value]);
    for (const list of lists) {
      for (const reader of readers.get(nodeNameOf(list)) ?? []) {
        const shape = joinedShape(reader, list, sizesOf);
        if (shape !== undefined) return withShape(node, shape);
        const place = reader.op === 'Merge' ? valuesOf(reader).indexOf(list) : PASSING[reader.op];
        if (place === undefined || valuesOf(reader)[place] !== list) continue;
        lists.add(reader.name);
        if (reader.op === 'Switch') lists.add(`${reader.name}:1`);
      }
    }
    const own = node.op === 'TensorListReserve' ? sizesOf(valuesOf(node)[0] ?? '') : undefined;
    return own === undefined || own.some((size) => size < 0) ? node : withShape(node, own);
  });
}

/** The shape of the elements that a node joins to a tensor, where it is known. */
function joinedShape(
  node: GraphNode,
  list: string,
  sizesOf: (name: string) => readonly number[] | undefined,
): readonly number[] | undefined {
  const inputs = valuesOf(node);
  let shape: readonly number[] | undefined;
  if (node.op === 'TensorListStack' && inputs[0] === list) shape = sizesOf(inputs[1] ?? '');
  if (node.op === 'TensorArrayGatherV3' && inputs[2] === list) {
    const { shape: given } = Object(node.attr['element_shape']) as { shape?: unknown };
    shape = given === undefined ? undefined : shapeOf(given);
  }
  return shape?.every((size) => size >= 0) === true ? shape : undefined;
}

function withShape(node: GraphNode, sizes: readonly number[]): GraphNode {
  const shape = { dim: sizes.map((size) => ({ size })) };
  return { ...node, attr: { ...node.attr, element_shape: { shape } } };
}

export function intsOf(bytes: Uint8Array): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.byteLength >> 2 }, (_, i) => view.getInt32(4 * i, true));
}
