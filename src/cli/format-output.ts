import { type OutputValue, Tensor } from '../client/index.ts';

const MAX_LISTED = 64;
const TOP_COUNT = 5;
const FIRST_COUNT = 6;

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

/** An output as plain data: its type, its elements where they are few, and what sums them up. */
export function outputFacts(name: string, value: OutputValue): object {
  if (!(value instanceof Tensor)) return { name, value };
  const { dtype, shape } = value;
  const numbers = flat(value);
  if (numbers.length <= MAX_LISTED) return { name, dtype, shape, elements: numbers };
  return { name, dtype, shape, ...summed(numbers), begins: numbers.slice(0, FIRST_COUNT) };
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

function summed(numbers: readonly number[]): { min: number; max: number; mean: number } {
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  for (const value of numbers) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  return { min, max, mean: sum / numbers.length };
}

function summary(numbers: readonly number[]): string {
  const { min, max, mean } = summed(numbers);
  const first = numbers.slice(0, FIRST_COUNT).map(short).join(', ');
  return `  min ${short(min)}, max ${short(max)}, mean ${short(mean)}; begins ${first}, …`;
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
