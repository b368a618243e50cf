import { DeviceTensor, OpaqueValue, type OutputValue, Tensor } from '../client/index.ts';
import { float16ToNumber } from '../core/float16.ts';

const SHOWN_VALUES = 6;

export interface OutputDescription {
  readonly type: string;
  readonly range: string;
  readonly values: string;
}

/** A result in a few words: type, smallest to largest value, the first values. */
export function describeOutput(value: OutputValue): OutputDescription {
  if (value instanceof Tensor) return describeTensor(value);
  if (value instanceof DeviceTensor) {
    return {
      type: `${value.dtype} [${value.shape.join(', ')}]`,
      range: '',
      values: 'on the device',
    };
  }
  if (value instanceof OpaqueValue) {
    return { type: `Opaque[${value.name}]`, range: '', values: '' };
  }
  if (value === null || typeof value !== 'object') {
    return { type: value === null ? 'null' : typeof value, range: '', values: String(value) };
  }
  if ('fields' in value) {
    const fields = value.fields.map((field) => describeOutput(field).values);
    const type = 'tag' in value ? `ADT, tag ${value.tag}` : value.constructor;
    return { type, range: '', values: fields.join('; ') };
  }
  const values = value.map((field) => describeOutput(field).values);
  const type = value.every((field) => typeof field === 'number') ? 'shape' : 'tuple';
  return { type, range: '', values: `(${values.join(', ')})` };
}

function describeTensor(tensor: Tensor): OutputDescription {
  const isHalf = tensor.dtype === 'float16';
  const numbers = Array.from<number | bigint, number>(tensor.data, (element) =>
    isHalf ? float16ToNumber(Number(element)) : Number(element),
  );
  let low = Infinity;
  let high = -Infinity;
  for (const number of numbers) {
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  const more = numbers.length > SHOWN_VALUES ? ', …' : '';
  return {
    type: `${tensor.dtype} [${tensor.shape.join(', ')}]`,
    range: numbers.length === 0 ? 'empty' : `${formatNumber(low)} to ${formatNumber(high)}`,
    values: numbers.slice(0, SHOWN_VALUES).map(formatNumber).join(', ') + more,
  };
}

function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)));
}
