import { isBigInt } from '../core/dtype.ts';
import type { HostTensor } from '../core/host-tensor.ts';
import { formatShape } from '../core/shape.ts';
import { readTensors, readTensorSync } from './tensor-read.ts';
import { describeValue, type TensorValue, type Value } from './value.ts';

const SHOWN_ELEMENT_COUNT = 16;
/** ADT values nested deeper than this are not shown: a list may be a million deep. */
const SHOWN_DEPTH = 32;

type Contents = Map<TensorValue, HostTensor>;

/** Values as `print` shows them, tensors with contents; a promise where those have to be waited for. */
export function formatValues(values: readonly Value[]): string | Promise<string> {
  const tensors = [...new Set(values.flatMap((value) => tensorsIn(value, 0)))];
  const contents: Contents = new Map();
  const format = () => values.map((value) => formatValue(value, contents, 0)).join(' ');
  for (const tensor of tensors) {
    const ready = readTensorSync(tensor);
    if (ready === undefined) {
      return readTensors(tensors).then((read) => {
        for (const [index, host] of read.entries()) contents.set(tensors[index] ?? tensor, host);
        return format();
      });
    }
    contents.set(tensor, ready);
  }
  return format();
}

function tensorsIn(value: Value, depth: number): TensorValue[] {
  if (typeof value !== 'object' || value === null) return [];
  if (value.kind === 'adt') {
    if (depth === SHOWN_DEPTH) return [];
    return value.fields.flatMap((field) => tensorsIn(field, depth + 1));
  }
  return value.kind === 'tensor' ? [value] : [];
}

function formatValue(value: Value, contents: Contents, depth: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (value === null) return 'null';
  if (value.kind === 'float') return String(value.value);
  if (value.kind === 'adt') {
    if (depth === SHOWN_DEPTH) return '…';
    const fields = value.fields.map((field) => formatValue(field, contents, depth + 1)).join(', ');
    return value.tag === 0 ? `(${fields})` : `#${value.tag}(${fields})`;
  }
  const host = value.kind === 'tensor' ? contents.get(value) : undefined;
  return host === undefined ? describeValue(value) : formatTensor(host);
}

function formatTensor({ dtype, shape, elements }: HostTensor): string {
  const shown: string[] = [];
  for (const element of elements.subarray(0, SHOWN_ELEMENT_COUNT)) {
    if (dtype === 'bool') shown.push(String(Boolean(element)));
    else shown.push(isBigInt(dtype) ? `${element}n` : String(element));
  }
  if (elements.length > SHOWN_ELEMENT_COUNT) shown.push('…');
  const bits = dtype === 'float16' ? ' bits' : '';
  return `${dtype} ${formatShape(shape)}${bits} [${shown.join(', ')}]`;
}
