import { type OutputValue, Tensor } from '../client/index.ts';

const MAX_LISTED = 64;
const TOP_COUNT = 5;

/** An output as text of a few lines: type, elements or a summary, and the largest of a vector. */
export function formatOutput(name: string, value: OutputValue): string {
  if (!(value instanceof Tensor)) return `${name}: ${JSON.stringify(value)}\n`;
  const lines = [`${name}: ${value.dtype} [${value.shape.join(', ')}]`];
  const numbers = Array.from(flat(value));
  lines.push(numbers.length <= MAX_LISTED ? listed(value) : summary(numbers));
  const isVector = numbers.length === value.shape.at(-1) && numbers.length > 2;
  if (isVector && value.dtype.startsWith('float')) lines.push(top(numbers));
  return `${lines.join('\n')}\n`;
}

function flat(tensor: Tensor): number[] {
  const { dtype, data } = tensor;
  const vector = new Tensor(dtype, data, [data.length]).toNested();
  return Array.isArray(vector) ? vector.map(Number) : [];
}

function listed(tensor: Tensor): string {
  const text = JSON.stringify(tensor.toNested(), (_key, value: unknown) => {
    if (typeof value === 'bigint') return Number(value);
    return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
  });
  return `  ${text.replaceAll(',', ', ')}`;
}

function summary(numbers: readonly number[]): string {
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  for (const value of numbers) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  const first = numbers.slice(0, 6).map(short).join(', ');
  const mean = short(sum / numbers.length);
  return `  min ${short(min)}, max ${short(max)}, mean ${mean}; begins ${first}, …`;
}

function top(numbers: readonly number[]): string {
  const order = Array.from(numbers, (value, index) => ({ value, index }));
  order.sort((a, b) => b.value - a.value);
  const best = order.slice(0, TOP_COUNT).map(({ value, index }) => `[${index}] ${short(value)}`);
  return `  largest: ${best.join(', ')}`;
}

function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
