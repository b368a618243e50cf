import { type InputValue, type OutputValue, Tensor } from '../client/index.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { readMessage } from '../frontend/onnx/protobuf/read-message.ts';
import { readTensorFile, tensorFromProto } from '../frontend/onnx/protobuf/read-tensor.ts';
import type { Message, TypeProto } from '../frontend/onnx/protobuf/schema.ts';

/** A tensor, a sequence, or an optional value with or without an element. */
export type CaseValue =
  | HostTensor
  | readonly CaseValue[]
  | { readonly element: CaseValue | undefined };

/** The content of a file of a data set, of the type that the model declares. */
export function readValueFile(bytes: Uint8Array, type: TypeProto | undefined): CaseValue {
  if (type?.optionalType !== undefined) {
    return optionalValue(readMessage('OptionalProto', bytes));
  }
  if (type?.sequenceType !== undefined) {
    return sequenceValue(readMessage('SequenceProto', bytes));
  }
  return readTensorFile(bytes).tensor;
}

function sequenceValue(proto: Message<'SequenceProto'>): CaseValue {
  const tensors = proto.tensorValues.map((tensor) => tensorFromProto(tensor, 'sequence file'));
  if (tensors.length > 0) return tensors;
  if (proto.sequenceValues.length > 0) return proto.sequenceValues.map(sequenceValue);
  return proto.optionalValues.map(optionalValue);
}

function optionalValue(proto: Message<'OptionalProto'>): CaseValue {
  const { tensorValue, sequenceValue: sequence } = proto;
  if (sequence !== undefined) return { element: sequenceValue(sequence) };
  return { element: tensorValue && tensorFromProto(tensorValue, 'optional file') };
}

/** The value as a session takes it: lists and options of the language. */
export function asInput(value: CaseValue): InputValue {
  if (value instanceof HostTensor) return new Tensor(value.dtype, value.data, value.shape);
  if ('element' in value) {
    const { element } = value;
    if (element === undefined) return { constructor: 'None', fields: [] };
    return { constructor: 'Some', fields: [asInput(element)] };
  }
  const nil: InputValue = { constructor: 'Nil', fields: [] };
  return value.reduceRight<InputValue>(
    (rest, each) => ({ constructor: 'Cons', fields: [asInput(each), rest] }),
    nil,
  );
}

/** An output of a session as a value of a case; undefined for anything else. */
export function fromOutput(value: OutputValue | undefined): CaseValue | undefined {
  if (value instanceof Tensor) return new HostTensor(value.dtype, value.shape, value.data);
  if (typeof value !== 'object' || value === null || !('fields' in value)) return undefined;
  if (!('constructor' in value) || typeof value.constructor !== 'string') return undefined;
  const { constructor, fields } = value;
  if (constructor === 'None') return { element: undefined };
  const first = fromOutput(fields[0]);
  if (constructor === 'Some') return first && { element: first };
  const list: CaseValue[] = [];
  let rest: OutputValue | undefined = value;
  while (typeof rest === 'object' && rest !== null && 'fields' in rest && rest.fields.length > 0) {
    const [head, tail]: readonly OutputValue[] = rest.fields;
    const element = fromOutput(head);
    if (element === undefined) return undefined;
    list.push(element);
    rest = tail;
  }
  return list;
}

/** How a value differs from what is expected; undefined where it does not. */
export function differenceOf(
  actual: CaseValue | undefined,
  expected: CaseValue,
  ofTensors: (actual: HostTensor, expected: HostTensor) => string | undefined,
): string | undefined {
  const [got, wanted] = [kindOf(actual), kindOf(expected)];
  if (actual === undefined || got !== wanted) return `got ${got}, expected ${wanted}`;
  if (actual instanceof HostTensor || expected instanceof HostTensor) {
    return ofTensors(actual as HostTensor, expected as HostTensor);
  }
  const [ours, theirs] = [partsOf(actual), partsOf(expected)];
  for (const [i, part] of theirs.entries()) {
    const difference = differenceOf(ours[i], part, ofTensors);
    if (difference !== undefined) return `element ${i}: ${difference}`;
  }
  return undefined;
}

function kindOf(value: CaseValue | undefined): string {
  if (value === undefined) return 'another value';
  if (value instanceof HostTensor) return 'a tensor';
  if ('element' in value) return `an optional value with${value.element ? '' : 'out'} an element`;
  return `a sequence of ${value.length}`;
}

function partsOf(value: Exclude<CaseValue, HostTensor>): readonly CaseValue[] {
  if (!('element' in value)) return value;
  return value.element === undefined ? [] : [value.element];
}
