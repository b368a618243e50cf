import { canonicalDomain } from '../onnx/model/operator-sets.ts';
import type { AttributeProto, NodeProto } from '../onnx/protobuf/schema.ts';
import { float16Places } from './float16-operators.ts';
import type { GraphScope } from './graph-scope.ts';

/** The element types of ONNX's float32 and float16. */
export const FLOAT32 = 1;
export const FLOAT16 = 10;

/** Inputs of a node that are values of the graph and, with its operator's `places`, may be float16. */
export function placesOf(
  names: readonly string[],
  places: readonly number[] | undefined,
): readonly number[] {
  return [...names.keys()].filter((i) => names[i] !== '' && (places?.includes(i) ?? true));
}

/**
 * The values of the main graph that are float32, as far as inputs, constants and the operators say that
 * {@link float16Places} knows. What else computes floats stays as it is, and so does what reads it.
 */
export function floatValues({ graph }: GraphScope): ReadonlySet<string> {
  const values = new Set<string>();
  const typed = [...graph.input, ...graph.output];
  for (const { name = '', type } of typed) {
    if (type?.tensorType?.elemType === FLOAT32) values.add(name);
  }
  for (const { name = '', dataType } of graph.initializer) {
    if (dataType === FLOAT32) values.add(name);
  }
  // Nodes come in the order of their values; a file that is not in order takes some rounds.
  for (let known = -1; known < values.size; ) {
    known = values.size;
    for (const node of graph.node) addValues(node, values);
  }
  return values;
}

function addValues(node: NodeProto, values: Set<string>): void {
  if (makesFloat32(node)) {
    values.add(node.output[0] ?? '');
    return;
  }
  const places = float16Places(node);
  if (places === undefined) return;
  const inputs = placesOf(node.input, places.inputs).map((i) => node.input[i] ?? '');
  const outputs = placesOf(node.output, places.outputs).map((i) => node.output[i] ?? '');
  // They have one type, that of the first input.
  const typed =
    places.isMixed === true ? [...inputs.slice(0, 1), ...outputs] : [...inputs, ...outputs];
  if (typed.some((name) => values.has(name))) for (const name of typed) values.add(name);
}

function makesFloat32({ domain, opType, attribute }: NodeProto): boolean {
  if (canonicalDomain(domain) !== '') return false;
  const find = (wanted: string): AttributeProto | undefined =>
    attribute.find(({ name }) => name === wanted);
  if (opType === 'Constant') {
    return (
      find('value')?.t?.dataType === FLOAT32 ||
      find('value_float') !== undefined ||
      find('value_floats') !== undefined
    );
  }
  if (opType === 'Cast') return Number(find('to')?.i) === FLOAT32;
  if (opType !== 'ConstantOfShape') return false;
  const value = find('value')?.t;
  return value === undefined || value.dataType === FLOAT32;
}
