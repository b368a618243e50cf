import { isBigInt } from '../../core/tensor/dtype.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { formatShape } from '../../core/tensor/shape.ts';
import { readTensors, readTensorSync } from './tensor-read.ts';
import { describeValue, type TensorValue, type Value } from './value.ts';

const SHOWN_ELEMENT_COUNT = 16;
/** ADT values nested deeper than this are not shown: a list may be a million deep. */
const SHOWN_DEPTH = 32;
/** A value that holds another twice, again and again, has no end to be reached. */
const SHOWN_VALUE_COUNT = 1000;

type ContentsOf = (tensor: TensorValue) => HostTensor | undefined;

/** Values as `print` shows them, tensors with contents; a promise where those have to be waited for. */
export function formatValues(values: readonly Value[]): string | Promise<string> {
  const contents = new Map<TensorValue, HostTensor | undefined>();
  format(values, (tensor) => {
    contents.set(tensor, undefined);
    return undefined;
  });
  const finish = () => format(values, (tensor) => contents.get(tensor));
  const tensors = [...contents.keys()];
  for (const tensor of tensors) {
    const ready = readTensorSync(tensor);
    if (ready === undefined) {
      return readTensors(tensors).then((read) => {
        for (const [index, tensor] of tensors.entries()) contents.set(tensor, read[index]);
        return finish();
      });
    }
    contents.set(tensor, ready);
  }
  return finish();
}

function format(values: readonly Value[], contentsOf: ContentsOf): string {
  let shown = 0;
  const formatAll = (all: readonly Value[], depth: number): string[] => {
    if (all.length > 0 && depth >= SHOWN_DEPTH) return ['…'];
    const texts: string[] = [];
    for (const value of all) {
      if (shown++ >= SHOWN_VALUE_COUNT) return [...texts, '…'];
      texts.push(formatValue(value, depth));
    }
    return texts;
  };
  const formatValue = (value: Value, depth: number): string => {
    if (typeof value === 'string') return value;
    if (typeof value === 'number') return String(value);
    if (value === null) return 'null';
    if (value.kind === 'float') return String(value.value);
    if (value.kind === 'adt') {
      const fields = formatAll(value.fields, depth + 1).join(', ');
      return value.tag === 0 ? `(${fields})` : `#${value.tag}(${fields})`;
    }
    const host = value.kind === 'tensor' ? contentsOf(value) : undefined;
    return host === undefined ? describeValue(value) : formatTensor(host);
  };
  return formatAll(values, 0).join(' ');
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
